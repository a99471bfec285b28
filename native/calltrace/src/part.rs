//! The one declaration of what a trace tells. `part!` makes a struct and keeps its keys with their types and meanings:
//! the types in Python (`doctord.dataset.calltrace`) and docs/reference/trace.md are made of them (docs/make_trace.py).

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A struct of the document: what it is, and its keys in their order.
pub struct Part {
    pub name: &'static str,
    pub about: &'static str,
    pub keys: Vec<Key>,
}

pub struct Key {
    pub name: &'static str,
    /// Its type, as Python writes it.
    pub kind: String,
    pub meaning: &'static str,
}

/// What a key holds, for another language to build its own objects of.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Truth(bool),
    Integer(u64),
    Number(f64),
    Text(Cow<'static, str>),
    List(Vec<Value>),
    Keyed(Vec<(Cow<'static, str>, Value)>),
}

/// What may stand in the document.
pub trait Told {
    /// The type, as Python writes it.
    fn kind() -> String;
    /// Adds the parts that it consists of, each once, before those that hold it.
    fn parts(_known: &mut Vec<Part>) {}
    fn told(self) -> Value;
}

macro_rules! part {
    (
        $(#[doc = $about:literal])+
        #[derive($($derived:ident),+)]
        pub struct $name:ident {
            $($(#[doc = $meaning:literal])+ pub $key:ident: $kind:ty,)+
        }
        $(beside { $($(#[doc = $aside:literal])* pub $field:ident: $of:ty,)+ })?
    ) => {
        $(#[doc = $about])+
        #[derive($($derived),+)]
        pub struct $name {
            $($(#[doc = $meaning])+ pub $key: $kind,)+
            $($($(#[doc = $aside])* pub $field: $of,)+)?
        }

        impl $crate::part::Told for $name {
            fn kind() -> String {
                stringify!($name).to_owned()
            }

            fn parts(known: &mut Vec<$crate::part::Part>) {
                if known.iter().any(|part| part.name == stringify!($name)) {
                    return;
                }
                $(<$kind as $crate::part::Told>::parts(known);)+
                known.push($crate::part::Part {
                    name: stringify!($name),
                    about: concat!($($about),+).trim_ascii(),
                    keys: vec![$($crate::part::Key {
                        name: $crate::part::plain(stringify!($key)),
                        kind: <$kind as $crate::part::Told>::kind(),
                        meaning: concat!($($meaning),+).trim_ascii(),
                    }),+],
                });
            }

            fn told(self) -> $crate::part::Value {
                $crate::part::Value::Keyed(vec![
                    $(($crate::part::plain(stringify!($key)).into(), $crate::part::Told::told(self.$key))),+
                ])
            }
        }
    };
}
pub(crate) use part;

/// A key that is a word of Rust (`r#loop`), as it is written elsewhere.
pub fn plain(key: &'static str) -> &'static str {
    key.strip_prefix("r#").unwrap_or(key)
}

macro_rules! simple {
    ($($type:ty, $kind:literal, $value:ident => $told:expr;)+) => {
        $(impl Told for $type {
            fn kind() -> String {
                $kind.to_owned()
            }

            fn told(self) -> Value {
                let $value = self;
                $told
            }
        })+
    };
}

simple! {
    bool, "bool", value => Value::Truth(value);
    u16, "int", value => Value::Integer(value.into());
    u32, "int", value => Value::Integer(value.into());
    u64, "int", value => Value::Integer(value);
    usize, "int", value => Value::Integer(value as u64);
    // JSON knows no other numbers.
    f64, "float", value => if value.is_finite() { Value::Number(value) } else { Value::Null };
    String, "str", value => Value::Text(value.into());
    &'static str, "str", value => Value::Text(value.into());
}

impl<T: Told> Told for Option<T> {
    fn kind() -> String {
        format!("{} | None", T::kind())
    }

    fn parts(known: &mut Vec<Part>) {
        T::parts(known);
    }

    fn told(self) -> Value {
        self.map_or(Value::Null, T::told)
    }
}

impl<T: Told> Told for Vec<T> {
    fn kind() -> String {
        format!("list[{}]", T::kind())
    }

    fn parts(known: &mut Vec<Part>) {
        T::parts(known);
    }

    fn told(self) -> Value {
        Value::List(self.into_iter().map(T::told).collect())
    }
}

impl<T: Told> Told for BTreeMap<String, T> {
    fn kind() -> String {
        format!("dict[str, {}]", T::kind())
    }

    fn parts(known: &mut Vec<Part>) {
        T::parts(known);
    }

    fn told(self) -> Value {
        Value::Keyed(
            self.into_iter()
                .map(|(key, value)| (key.into(), value.told()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    part! {
        /// A thing.
        #[derive(Debug)]
        pub struct Thing {
            /// Its size,
            /// in bytes.
            pub size: Option<u64>,
        }
    }

    part! {
        /// Several of them.
        #[derive(Debug)]
        pub struct Things {
            /// Where it goes round.
            pub r#loop: f64,
            /// Each.
            pub each: Vec<Thing>,
            /// The largest.
            pub largest: Option<Thing>,
        } beside {
            pub unsaid: u8,
        }
    }

    #[test]
    fn keys_are_listed_with_types_and_meanings_parts_of_parts_first() {
        let mut parts = Vec::new();
        Things::parts(&mut parts);
        let names: Vec<_> = parts.iter().map(|part| (part.name, part.about)).collect();
        assert_eq!(names, [("Thing", "A thing."), ("Things", "Several of them.")]);
        let size = &parts[0].keys[0];
        assert_eq!(
            (size.kind.as_str(), size.meaning),
            ("int | None", "Its size, in bytes.")
        );
        let kinds: Vec<_> = parts[1].keys.iter().map(|key| (key.name, key.kind.as_str())).collect();
        assert_eq!(
            kinds,
            [("loop", "float"), ("each", "list[Thing]"), ("largest", "Thing | None")]
        );
    }

    #[test]
    fn what_is_told_has_these_keys_and_no_number_that_json_lacks() {
        let things = Things {
            r#loop: f64::NAN,
            each: vec![Thing { size: Some(2) }],
            largest: None,
            unsaid: 0,
        };
        assert_eq!(things.unsaid, 0);
        let thing = Value::Keyed(vec![("size".into(), Value::Integer(2))]);
        let told = vec![
            ("loop".into(), Value::Null),
            ("each".into(), Value::List(vec![thing])),
            ("largest".into(), Value::Null),
        ];
        assert_eq!(things.told(), Value::Keyed(told));
    }
}
