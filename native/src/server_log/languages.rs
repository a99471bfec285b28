//! The words of PostgreSQL's log that tell what a line is, in the languages to which lc_messages may set it.
//!
//! Severities, what begins a part of a message, and durations: as the server's own message catalogues have them. What
//! else a message says is understood in English alone.

use super::entry::Severity;

const SEVERITIES: [(&str, Severity); 50] = [
    // German
    ("HINWEIS", Severity::Notice),
    ("WARNUNG", Severity::Warning),
    ("FEHLER", Severity::Error),
    ("PANIK", Severity::Panic),
    // French
    ("ATTENTION", Severity::Warning),
    ("ERREUR", Severity::Error),
    // Italian
    ("NOTIFICA", Severity::Notice),
    ("ATTENZIONE", Severity::Warning),
    ("ERRORE", Severity::Error),
    ("FATALE", Severity::Fatal),
    ("PANICO", Severity::Panic),
    // Brazilian Portuguese
    ("NOTA", Severity::Notice),
    ("AVISO", Severity::Warning),
    ("ERRO", Severity::Error),
    ("PÂNICO", Severity::Panic),
    // Swedish
    ("LOGG", Severity::Log),
    ("NOTIS", Severity::Notice),
    ("VARNING", Severity::Warning),
    ("FEL", Severity::Error),
    ("FATALT", Severity::Fatal),
    // Russian
    ("ОТЛАДКА", Severity::Debug),
    ("СООБЩЕНИЕ", Severity::Log),
    ("ИНФОРМАЦИЯ", Severity::Info),
    ("ЗАМЕЧАНИЕ", Severity::Notice),
    ("ПРЕДУПРЕЖДЕНИЕ", Severity::Warning),
    ("ОШИБКА", Severity::Error),
    ("ВАЖНО", Severity::Fatal),
    ("ПАНИКА", Severity::Panic),
    // Ukrainian
    ("ЗАПИСУВАННЯ", Severity::Log),
    ("ІНФОРМАЦІЯ", Severity::Info),
    ("ПОВІДОМЛЕННЯ", Severity::Notice),
    ("ПОПЕРЕДЖЕННЯ", Severity::Warning),
    ("ПОМИЛКА", Severity::Error),
    ("ФАТАЛЬНО", Severity::Fatal),
    ("ПАНІКА", Severity::Panic),
    // Korean
    ("디버그", Severity::Debug),
    ("로그", Severity::Log),
    ("정보", Severity::Info),
    ("알림", Severity::Notice),
    ("경고", Severity::Warning),
    ("오류", Severity::Error),
    ("치명적오류", Severity::Fatal),
    ("손상", Severity::Panic),
    // Chinese
    ("调试", Severity::Debug),
    ("日志", Severity::Log),
    ("信息", Severity::Info),
    ("注意", Severity::Notice),
    ("警告", Severity::Warning),
    ("错误", Severity::Error),
    ("致命错误", Severity::Fatal),
];
const DETAILS: [&str; 9] = [
    "DETALLE",
    "DÉTAIL",
    "DETTAGLI",
    "DETALHE",
    "DETALJ",
    "ПОДРОБНОСТИ",
    "ВІДОМОСТІ",
    "详细信息",
    "詳細",
];
const CONTEXTS: [&str; 9] = [
    "ZUSAMMENHANG",
    "CONTEXTO",
    "CONTEXTE",
    "CONTESTO",
    "KONTEXT",
    "КОНТЕКСТ",
    "내용",
    "上下文",
    "文脈",
];
/// What begins a statement, as a part of a message in capitals and within one in small letters.
const STATEMENTS: [(&str, &str); 11] = [
    ("STATEMENT", "statement"),
    ("ANWEISUNG", "Anweisung"),
    ("SENTENCIA", "sentencia"),
    ("INSTRUCTION", "instruction "),
    ("ISTRUZIONE", "istruzione"),
    ("COMANDO", "comando"),
    ("SATS", "sats"),
    ("ОПЕРАТОР", "оператор"),
    ("구문", "명령 구문"),
    ("语句", "语句"),
    ("文", "文"),
];
const DURATIONS: [&str; 12] = [
    "duration: ",
    "Dauer: ",
    "duración: ",
    "durée : ",
    "durata: ",
    "duração: ",
    "varaktighet: ",
    "varaktighet ",
    "продолжительность: ",
    "тривалість: ",
    "실행시간: ",
    "执行时间: ",
];
const MILLISECONDS: [&str; 2] = [" ms", " мс"];

/// What a word before a colon begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Detail,
    Context,
    Statement,
}

/// The severity that a word of another language than English means.
pub fn severity(word: &[u8]) -> Option<Severity> {
    let found = SEVERITIES.iter().find(|(own, _)| own.as_bytes() == word);
    found.map(|(_, severity)| *severity)
}

/// The words of all severities but the English ones.
pub fn severities(of: Option<&str>) -> impl Iterator<Item = &'static str> {
    let asked = move |severity: Severity| of.is_none_or(|word| severity.word() == word);
    SEVERITIES
        .iter()
        .filter(move |(_, severity)| asked(*severity))
        .map(|(word, _)| *word)
}

/// The part of a message that a word of another language than English begins.
pub fn part(word: &[u8]) -> Option<Part> {
    let is_among = |words: &[&str]| words.iter().any(|own| own.as_bytes() == word);
    if STATEMENTS.iter().any(|(own, _)| own.as_bytes() == word) {
        Some(Part::Statement)
    } else if is_among(&DETAILS) {
        Some(Part::Detail)
    } else if is_among(&CONTEXTS) {
        Some(Part::Context)
    } else {
        None
    }
}

/// The number of milliseconds that a message tells, as text, and what follows; none where it tells no duration. The
/// number is empty where what follows is no number of milliseconds.
pub fn duration(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = DURATIONS
        .iter()
        .find_map(|begin| message.strip_prefix(begin.as_bytes()))?;
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let (elapsed, unit) = rest.split_at(length);
    let Some(what) = MILLISECONDS.iter().find_map(|own| unit.strip_prefix(own.as_bytes())) else {
        return Some((b"", b""));
    };
    Some((elapsed, what.strip_prefix(b",").unwrap_or(what).trim_ascii_start()))
}

/// The statement that a message tells; none where it tells none.
pub fn statement(message: &[u8]) -> Option<&[u8]> {
    let is_told = STATEMENTS.iter().any(|(_, own)| {
        message
            .strip_prefix(own.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&b':'))
    });
    (is_told || message.starts_with(b"execute ")).then(|| text_of(message))
}

/// What stands behind the colon; a statement that begins with an empty line has no blank before it.
pub fn text_of(message: &[u8]) -> &[u8] {
    let colon = message
        .windows(2)
        .position(|pair| pair[0] == b':' && pair[1].is_ascii_whitespace());
    colon.map_or(b"", |colon| message[colon + 1..].trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_with_their_statements() {
        for (message, elapsed, text) in [
            ("duration: 1.5 ms  statement: SELECT 1", "1.5", "SELECT 1"),
            ("Dauer: 1.5 ms  Anweisung: SELECT 1", "1.5", "SELECT 1"),
            ("durée : 1.5 ms, instruction : SELECT 1", "1.5", "SELECT 1"),
            ("продолжительность: 1.5 мс, оператор: SELECT 1", "1.5", "SELECT 1"),
            ("duración: 2 ms  execute s1: SELECT 1", "2", "SELECT 1"),
            ("duration: 2 ms  statement:\n\tSELECT ': 1'", "2", "SELECT ': 1'"),
        ] {
            let (number, what) = duration(message.as_bytes()).unwrap();
            assert_eq!(
                (number, statement(what)),
                (elapsed.as_bytes(), Some(text.as_bytes())),
                "{message}"
            );
        }
        assert_eq!(duration(b"durable"), None);
    }

    #[test]
    fn words_of_other_languages() {
        assert_eq!(severity("FEHLER".as_bytes()), Some(Severity::Error));
        assert_eq!(severity("ОШИБКА".as_bytes()), Some(Severity::Error));
        assert_eq!(part("SENTENCIA".as_bytes()), Some(Part::Statement));
        assert_eq!(part("DÉTAIL".as_bytes()), Some(Part::Detail));
    }
}
