//! Messages of PostgreSQL's log that are known by their words, in the languages to which lc_messages may set it.
//!
//! As the server's own message catalogues have them (version 15). What is said of objects stands between two texts.

use std::borrow::Cow;

use super::refusals;
use crate::server_log::text::between;

/// What stands before a name, and what behind it.
type Shape = (&'static str, &'static str);

/// Whole messages: in English, and in other languages.
const WHOLE: [(&str, [&str; 10]); 6] = [
    (
        "canceling autovacuum task",
        [
            "storniere Autovacuum-Aufgabe",
            "cancelando tarea de autovacuum",
            "annulation de la tâche d'autovacuum",
            "annullamento del task di autovacuum",
            "自動VACUUM処理をキャンセルしています",
            "자동 청소 작업을 취소하는 중",
            "отмена задачи автоочистки",
            "avbryter autovacuum-uppgift",
            "скасування завдання автоочистки",
            "正在取消自动清理任务",
        ],
    ),
    (
        "out of shared memory",
        [
            "Shared Memory aufgebraucht",
            "memoria compartida agotada",
            "mémoire partagée épuisée",
            "memoria condivisa esaurita",
            "共有メモリが足りません",
            "공유 메모리 부족",
            "нехватка разделяемой памяти",
            "slut på delat minne",
            "нестача спільної пам'яті",
            "共享内存用尽",
        ],
    ),
    (
        "out of memory",
        [
            "Speicher aufgebraucht",
            "memoria agotada",
            "mémoire épuisée",
            "memoria esaurita",
            "メモリ不足です",
            "메모리 부족",
            "нехватка памяти",
            "slut på minne",
            "недостатньо пам'яті",
            "内存用尽",
        ],
    ),
    (
        "canceling statement due to conflict with recovery",
        [
            "storniere Anfrage wegen Konflikt mit der Wiederherstellung",
            "cancelando la sentencia debido a un conflicto con la recuperación",
            "annulation de la requête à cause d'un conflit avec la restauration",
            "annullamento dell'istruzione a causa di un conflitto con il ripristino",
            "リカバリで競合が発生したためステートメントをキャンセルしています",
            "복구 작업 중 충돌이 발생해 작업을 중지합니다.",
            "выполнение оператора отменено из-за конфликта с процессом восстановления",
            "avbryter sats på grund av konflikt med återställning",
            "виконання оператора скасовано через конфлікт з процесом відновлення",
            "由于与恢复操作冲突，正在取消语句命令",
        ],
    ),
    (
        "terminating connection due to conflict with recovery",
        [
            "Verbindung wird abgebrochen wegen Konflikt mit der Wiederherstellung",
            "terminando la conexión debido a un conflicto con la recuperación",
            "arrêt de la connexion à cause d'un conflit avec la restauration",
            "interruzione della connessione a causa di conflitto con il ripristino",
            "リカバリで競合が発生したため、接続を終了しています",
            "복구 작업 중 충돌로 연결을 끝냅니다",
            "закрытие подключения из-за конфликта с процессом восстановления",
            "avslutar anslutning på grund av konflikt med återställning",
            "завершення підключення через конфлікт з процесом відновлення",
            "由于与恢复操作相冲突而中断连接",
        ],
    ),
    (
        "too many notifications in the NOTIFY queue",
        [
            "zu viele Benachrichtigungen in NOTIFY-Schlange",
            "demasiadas notificaciones en la cola NOTIFY",
            "trop de notifications dans la queue NOTIFY",
            "troppe notifiche nella coda di NOTIFY",
            "NOTIFY キューで発生した通知イベントが多すぎます",
            "NOTIFY 큐에 너무 많은 알림이 있습니다",
            "слишком много уведомлений в очереди NOTIFY",
            "för många notifieringar i NOTIFY-kön",
            "занадто багато сповіщень у черзі NOTIFY",
            "在NOTIFY队列中的通知太多了",
        ],
    ),
];
/// What stands before a part that is the same in any language, and what behind it: in English, and in other languages.
type Around = (Shape, &'static [Shape]);
const AROUND: [Around; 3] = [
    (
        ("could not accept SSL connection: ", ""),
        &[
            ("konnte SSL-Verbindung nicht annehmen: ", ""),
            ("no se pudo aceptar una conexión SSL: ", ""),
            ("n'a pas pu accepter la connexion SSL : ", ""),
            ("accettazione della connessione SSL fallita: ", ""),
            ("SSL接続を受け付けられませんでした: ", ""),
            ("SSL 연결을 받아드릴 수 없습니다: ", ""),
            ("не удалось принять SSL-подключение: ", ""),
            ("kunde inte acceptera SSL-uppkoppling: ", ""),
            ("не вдалося отримати підключення SSL: ", ""),
            ("无法访问 SSL 联接: ", ""),
        ],
    ),
    (
        ("database \"", "\" has a collation version mismatch"),
        &[
            ("Version von Sortierfolge für Datenbank »", "« stimmt nicht überein"),
            (
                "la base de datos «",
                "» tiene una discordancia de versión de ordenamiento (“collation”)",
            ),
            ("il database \"", "\" ha una versione di confronto non corrispondente"),
            ("データベース\"", "\"で照合順序バージョンの不一致が起きています"),
            ("\"", "\" 데이터베이스의 문자 정렬 규칙은 버전이 맞지 않음"),
            ("несовпадение версии для правила сортировки в базе данных \"", "\""),
            (
                "databasen \"",
                "\" har en jämförelse (collation) vars version som inte matchar",
            ),
            ("база даних \"", "\" має невідповідність версії параметрів сортування"),
        ],
    ),
    (
        ("collation \"", "\" has version mismatch"),
        &[
            ("Version von Sortierfolge »", "« stimmt nicht überein"),
            ("el ordenamiento (collation) «", "» tiene una discordancia de versión"),
            ("le collationnement « ", " » a des versions différentes"),
            ("la versione dell'ordinamento \"", "\" non combacia"),
            ("照合順序\"", "\"でバージョンの不一致が起きています"),
            ("\"", "\" 문자 정렬 규칙은 버전이 맞지 않음"),
            ("несовпадение версии для правила сортировки \"", "\""),
            ("jämförelse (collation) \"", "\" har en version som inte matchar"),
            ("невідповідність версій для параметру сортування \"", "\""),
            ("排序规则\"", "\"的版本不匹配"),
        ],
    ),
];
/// The context of who vacuums a table by itself.
const VACUUMED: [Shape; 11] = [
    ("automatic vacuum of table \"", "\""),
    ("automatisches Vacuum der Tabelle »", "«"),
    ("vacuum automático de la tabla «", "»"),
    ("VACUUM automatique de la table « ", " »"),
    ("pulizia automatica della tabella \"", "\""),
    ("テーブル\"", "\"に対する自動VACUUM"),
    ("\"", "\" 테이블 대상으로 자동 vacuum 작업 함"),
    ("автоматическая очистка таблицы \"", "\""),
    ("automatisk vacuum av tabell \"", "\""),
    ("автоматична очистка таблиці \"", "\""),
    ("对表\"", "\"进行自动清理"),
];
/// That a table was left out, as somebody has locked it.
const SKIPPED: [Shape; 11] = [
    ("skipping vacuum of \"", "\" --- lock not available"),
    ("überspringe Vacuum von »", "« --- Sperre nicht verfügbar"),
    ("omitiendo el vacuum de «", "»: el candado no está disponible"),
    ("ignore le vacuum de « ", " » --- verrou non disponible"),
    ("pulizia di \"", "\" saltata --- lock non disponibile"),
    (
        "\"",
        "\"のVACUUM処理をスキップしています -- ロックを獲得できませんでした",
    ),
    ("\"", "\" 개체 vacuum 건너뜀 --- 사용 가능한 잠금이 없음"),
    ("очистка \"", "\" пропускается --- блокировка недоступна"),
    ("hoppar över vacuum av \"", "\" --- lås ej tillgängligt"),
    ("очистка \"", "\" пропускається --- блокування недоступне"),
    ("跳过对 \"", "\" 的压缩处理 --- 无法获取相应锁"),
];

/// The message in English where it is one of those known here, else as it is.
pub fn english(message: &[u8]) -> Cow<'_, [u8]> {
    let found = WHOLE
        .iter()
        .find(|(_, others)| others.iter().any(|other| other.as_bytes() == message));
    if let Some((english, _)) = found {
        return Cow::Borrowed(english.as_bytes());
    }
    if let Some(refusal) = refused(message) {
        return refusal;
    }
    let around = AROUND.iter().find_map(|((begin, end), others)| {
        let inner = others
            .iter()
            .find_map(|(before, behind)| message.strip_prefix(before.as_bytes())?.strip_suffix(behind.as_bytes()))?;
        Some([begin.as_bytes(), inner, end.as_bytes()].concat())
    });
    around.map_or(Cow::Borrowed(message), Cow::Owned)
}

/// What turns clients away.
fn refused(message: &[u8]) -> Option<Cow<'_, [u8]>> {
    let whole = refusals::WHOLE.iter().find_map(|(english, others)| {
        let is_it = others.iter().any(|other| other.as_bytes() == message);
        is_it.then_some(Cow::Borrowed(english.as_bytes()))
    });
    whole.or_else(|| {
        refusals::BEFORE.iter().find_map(|(english, others)| {
            let rest = others.iter().find_map(|other| message.strip_prefix(other.as_bytes()))?;
            Some(Cow::Owned([english.as_bytes(), rest].concat()))
        })
    })
}

/// The table (`database.schema.table`) that an autovacuum worker vacuumed, by the context of a message.
pub fn vacuumed(context: &[u8]) -> Option<&[u8]> {
    context
        .split(|byte| *byte == b'\n')
        .find_map(|line| named(line, &VACUUMED))
}

/// The table whose vacuum was left out because of a lock.
pub fn skipped(message: &[u8]) -> Option<&[u8]> {
    named(message, &SKIPPED)
}

fn named<'a>(text: &'a [u8], shapes: &[Shape]) -> Option<&'a [u8]> {
    shapes
        .iter()
        .find_map(|(begin, end)| between(text, begin.as_bytes(), end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_other_languages_are_those_of_english() {
        for (other, expected) in [
            ("storniere Autovacuum-Aufgabe", "canceling autovacuum task"),
            ("нехватка разделяемой памяти", "out of shared memory"),
            ("内存用尽", "out of memory"),
            (
                "konnte SSL-Verbindung nicht annehmen: tlsv1 alert unknown ca",
                "could not accept SSL connection: tlsv1 alert unknown ca",
            ),
            (
                "несовпадение версии для правила сортировки в базе данных \"shop\"",
                "database \"shop\" has a collation version mismatch",
            ),
            (
                "désolé, trop de clients sont déjà connectés",
                "sorry, too many clients already",
            ),
            (
                "не удалось породить рабочий процесс автоочистки: Ресурс временно недоступен",
                "could not fork autovacuum worker process: Ресурс временно недоступен",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(&english(other.as_bytes())[..], expected.as_bytes());
        }
    }

    #[test]
    fn tables_stand_in_the_quotes_of_each_language() {
        for context in [
            "while scanning block 5 of relation \"public.t\"\n\tautomatic vacuum of table \"shop.public.t\"",
            "automatisches Vacuum der Tabelle »shop.public.t«",
            "VACUUM automatique de la table « shop.public.t »",
            "\"x\" 블록\n\"shop.public.t\" 테이블 대상으로 자동 vacuum 작업 함",
            "对表\"shop.public.t\"进行自动清理",
        ] {
            assert_eq!(vacuumed(context.as_bytes()), Some(&b"shop.public.t"[..]), "{context}");
        }
        assert_eq!(
            vacuumed("automatisches Analysieren der Tabelle »shop.public.t«".as_bytes()),
            None
        );
        assert_eq!(
            skipped("очистка \"t\" пропускается --- блокировка недоступна".as_bytes()),
            Some(&b"t"[..])
        );
        assert_eq!(skipped(b"skipping vacuum of \"t\" --- relation no longer exists"), None);
    }
}
