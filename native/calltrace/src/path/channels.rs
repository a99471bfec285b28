//! Who wrote into each pipe, and when: whom a reader waited for.

use crate::journal::{Action, Journal, ProcessId};

#[derive(Clone, Copy, Debug)]
pub struct Gift {
    pub giver: ProcessId,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// Writes by channel, in order of their start.
#[derive(Debug, Default)]
pub struct Channels {
    gifts: Vec<Vec<Gift>>,
}

impl Channels {
    pub fn of(journal: &Journal) -> Channels {
        let mut channels = Channels::default();
        for (giver, process) in journal.processes.iter().enumerate() {
            for &(entry, action) in &process.actions {
                if let (Action::Gave(channel), Some(entry)) = (action, process.entries.get(entry as usize)) {
                    channels.add(
                        channel as usize,
                        Gift {
                            giver: giver as ProcessId,
                            start_ns: entry.start_ns,
                            end_ns: entry.end_ns(),
                        },
                    );
                }
            }
        }
        for gifts in &mut channels.gifts {
            gifts.sort_by_key(|gift| gift.start_ns);
        }
        channels
    }

    fn add(&mut self, channel: usize, gift: Gift) {
        if self.gifts.len() <= channel {
            self.gifts.resize(channel + 1, Vec::new());
        }
        self.gifts[channel].push(gift);
    }

    /// The last write into a channel that ended a wait: it began before the wait's end, and was not over at its start.
    pub fn ended(&self, channel: u32, from_ns: u64, to_ns: u64) -> Option<Gift> {
        let gifts = self.gifts.get(channel as usize)?;
        let before = gifts.partition_point(|gift| gift.start_ns <= to_ns);
        let gift = *gifts.get(before.checked_sub(1)?)?;
        (gift.end_ns > from_ns).then_some(gift)
    }
}
