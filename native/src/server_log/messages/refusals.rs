//! Messages by which PostgreSQL turns clients away or says that it has no process for them, in other languages.
//!
//! As the server's own message catalogues have them (version 15): what stands in its log, and what a client is told.

/// A message in English, and in other languages.
type Told = (&'static str, &'static [&'static str]);

pub const WHOLE: [Told; 6] = [
    (
        "sorry, too many clients already",
        &[
            "tut mir leid, schon zu viele Verbindungen",
            "lo siento, ya tenemos demasiados clientes",
            "désolé, trop de clients sont déjà connectés",
            "spiacente, troppi client già connessi",
            "現在クライアント数が多すぎます",
            "უკაცრავად, უკვე მეტისმეტად ბევრი კლიენტია",
            "최대 동시 접속자 수를 초과했습니다.",
            "извините, уже слишком много клиентов",
            "ledsen, för många klienter",
            "вибачте, вже забагато клієнтів",
            "对不起, 已经有太多的客户",
        ],
    ),
    (
        "remaining connection slots are reserved for non-replication superuser connections",
        &[
            "die verbleibenden Verbindungen sind für Superuser auf Nicht-Replikationsverbindungen reserviert",
            "las conexiones restantes están reservadas a superusuarios y no de replicación",
            "les emplacements de connexions restants sont réservés pour les connexions superutilisateur non relatif à la réplication",
            "i rimanenti slot di connessione sono riservati a connessioni di superutenti non di replica",
            "残りの接続スロットはレプリケーションユーザーではないスーパーユーザー用に予約されています",
            "남은 연결 슬롯은 non-replication 슈퍼유저 연결용으로 남겨 놓았음",
            "оставшиеся слоты подключений зарезервированы для подключений суперпользователя (не для репликации)",
            "resterande anslutningsslottar är reserverade för superuser-anslutningar utan replikering",
            "слоти підключень, які залишились, зарезервовані для підключень суперкористувача (не для реплікації)",
            "已保留的连接位置为执行非复制请求的超级用户预留",
        ],
    ),
    (
        "the database system is starting up",
        &[
            "das Datenbanksystem startet",
            "el sistema de base de datos está iniciándose",
            "le système de bases de données se lance",
            "il database si sta avviando",
            "データベースシステムは起動処理中です",
            "მიმდინარეობს მონაცემთა ბაზის სისტემის გაშვება",
            "데이터베이스 시스템이 새로 가동 중입니다.",
            "система баз данных запускается",
            "databassystemet startar upp",
            "система бази даних запускається",
            "数据库系统启动中",
        ],
    ),
    (
        "the database system is shutting down",
        &[
            "das Datenbanksystem fährt herunter",
            "el sistema de base de datos está apagándose",
            "le système de base de données s'arrête",
            "il database si sta spegnendo",
            "データベースシステムはシャットダウンしています",
            "მონაცემთა ბაზის სისტემა ითიშება",
            "데이터베이스 시스템이 중지 중입니다",
            "система баз данных останавливается",
            "databassystemet stänger ner",
            "система бази даних завершує роботу",
            "数据库系统停止中",
        ],
    ),
    (
        "the database system is in recovery mode",
        &[
            "das Datenbanksystem ist im Wiederherstellungsmodus",
            "el sistema de base de datos está en modo de recuperación",
            "le système de bases de données est en cours de restauration",
            "il database è in modalità di ripristino",
            "データベースシステムはリカバリモードです",
            "მონაცემთა ბაზის სისტემა აღდგენის რეჟიმშია",
            "데이터베이스 시스템이 자동 복구 작업 중입니다.",
            "система баз данных в режиме восстановления",
            "databassystemet är återställningsläge",
            "система бази даних у режимі відновлення",
            "数据库系统在恢复模式中",
        ],
    ),
    (
        "the database system is not yet accepting connections",
        &[
            "das Datenbanksystem nimmt noch keine Verbindungen an",
            "el sistema de bases de datos aún no está aceptando conexiones",
            "le système de bases de données n'accepte pas encore de connexions",
            "il sistema di database non accetta ancora connessioni",
            "データベースシステムはまだ接続を受け付けていません",
            "მონაცემთა ბაზის სისტემა ჯერ მიერთებებს არ იღებს",
            "해당 데이터베이스 시스템은 아직 접속을 허용하지 않습니다.",
            "система БД ещё не принимает подключения",
            "databassystemet tar ännu inte emot anslutningar",
            "система бази даних ще не приймає підключення",
        ],
    ),
];
/// What stands before what fork(2) said.
pub const BEFORE: [Told; 3] = [
    (
        "could not fork new process for connection: ",
        &[
            "konnte neuen Prozess für Verbindung nicht starten (fork-Fehler): ",
            "no se pudo lanzar el nuevo proceso para la conexión: ",
            "n'a pas pu lancer le nouveau processus fils pour la connexion : ",
            "fork del nuovo processo per la connessione fallito: ",
            "接続用の新しいプロセスをforkできませんでした: ",
            "ახალი პროცესის ფორკის შეცდომა შეერთებისთვის: ",
            "연결을 위한 새 프로세스 할당(fork) 실패: ",
            "породить новый процесс для соединения не удалось: ",
            "kunde inte fork():a ny process for uppkoppling: ",
            "не вдалося породити нові процеси для з'єднання: ",
            "无法为联接派生新进程: ",
        ],
    ),
    (
        "could not fork autovacuum worker process: ",
        &[
            "konnte Autovacuum-Worker-Prozess nicht starten (fork-Fehler): ",
            "no se pudo lanzar el proceso «autovacuum worker»: ",
            "n'a pas pu exécuter le processus autovacuum worker : ",
            "fork del processo di lavoro di autovacuum fallito: ",
            "自動VACUUMワーカープロセスをforkできませんでした: ",
            "ავტომომტვერსასრუტების დამხმარე პროცესის ფორკის შეცდომა: ",
            "autovacuum 작업자 프로세스를 실행할 수 없음: ",
            "не удалось породить рабочий процесс автоочистки: ",
            "kunde inte starta autovacuum-arbetsprocess: ",
            "не вдалося породити робочий процес автоочитски: ",
            "无法派生autovacuum工作进程: ",
        ],
    ),
    (
        "could not fork worker process: ",
        &[
            "konnte Worker-Prozess nicht starten (fork-Fehler): ",
            "no se pudo lanzar el proceso ayudante: ",
            "n'a pas pu créer un processus fils du processus en tâche de fond : ",
            "fork del processo di lavoro in background fallito: ",
            "ワーカープロセスをforkできませんでした: ",
            "დამხმარე პროცესის ფორკის შეცდომა: ",
            "작업자 프로세스를 할당(fork)할 수 없음: ",
            "породить рабочий процесс не удалось: ",
            "kunde inte starta (fork) arbetarprocess: ",
            "не вдалося породити процес запису: ",
            "无法创建工作进程:",
        ],
    ),
];

/// What a client was told, in English where a server in another language turned it away for one of these reasons.
pub fn in_english(text: &str) -> Option<String> {
    WHOLE.iter().chain(&BEFORE).find_map(|(english, others)| {
        let other = others.iter().find(|other| text.contains(**other))?;
        Some(text.replacen(other, english, 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_is_told_is_understood() {
        for (told, expected) in [
            (
                "FATAL: tut mir leid, schon zu viele Verbindungen",
                Some("FATAL: sorry, too many clients already"),
            ),
            (
                "ВАЖНО: система баз данных запускается",
                Some("ВАЖНО: the database system is starting up"),
            ),
            (
                "konnte neuen Prozess für Verbindung nicht starten (fork-Fehler): x",
                Some("could not fork new process for connection: x"),
            ),
            ("FATAL: sorry, too many clients already", None),
        ] {
            assert_eq!(in_english(told).as_deref(), expected);
        }
    }
}
