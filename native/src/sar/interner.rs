//! Texts that come again and again, kept once.

use std::collections::HashMap;

/// Numbers for texts, in the order in which they came.
#[derive(Default)]
pub struct Interner {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Interner {
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}
