//! A set of tokens as chunks of 64 bits: small while few are in it, dense when most of a kind are.

use super::rules::{Rule, Token};

/// A set of tokens.
///
/// Invariant: chunks ascend by number and none is empty, so that equal sets are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lockset {
    chunks: Vec<(u32, u64)>,
}

impl Lockset {
    /// The set of one token.
    pub fn one(token: Token) -> Lockset {
        let (chunk, bit) = place(token);
        Lockset {
            chunks: vec![(chunk, bit)],
        }
    }

    /// Whether the token is in the set.
    #[inline]
    pub fn contains(&self, token: Token) -> bool {
        let (chunk, bit) = place(token);
        self.find(chunk).is_ok_and(|i| self.chunks[i].1 & bit != 0)
    }

    /// Adds a token.
    pub fn insert(&mut self, token: Token) {
        let (chunk, bit) = place(token);
        match self.find(chunk) {
            Ok(i) => self.chunks[i].1 |= bit,
            Err(i) => self.chunks.insert(i, (chunk, bit)),
        }
    }

    /// Takes a token out.
    pub fn remove(&mut self, token: Token) {
        let (chunk, bit) = place(token);
        if let Ok(i) = self.find(chunk) {
            self.chunks[i].1 &= !bit;
            if self.chunks[i].1 == 0 {
                self.chunks.remove(i);
            }
        }
    }

    /// Applies a rule. The token that is in the set because of it.
    #[inline]
    pub fn apply(&mut self, rule: Rule) -> Option<Token> {
        match rule {
            Rule::Add { to, from } | Rule::Set { to, from } if self.contains(from) => {
                self.insert(to);
                Some(to)
            }
            Rule::Add { .. } => None,
            Rule::Set { to, .. } | Rule::Clear { to } => {
                self.remove(to);
                None
            }
        }
    }

    /// The tokens in the set.
    pub fn iter(&self) -> impl Iterator<Item = Token> {
        self.chunks.iter().flat_map(|&(chunk, bits)| {
            (0..u64::BITS)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| token(chunk, bit))
        })
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<(u32, u64)>()
    }

    #[inline]
    fn find(&self, chunk: u32) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&chunk, |c| c.0)
    }
}

impl FromIterator<Token> for Lockset {
    fn from_iter<I: IntoIterator<Item = Token>>(tokens: I) -> Lockset {
        let mut set = Lockset::default();
        for token in tokens {
            set.insert(token);
        }
        set.chunks.shrink_to_fit();
        set
    }
}

/// Chunk numbers: the kind of token above 26 bits, then its number without the 6 bits that are the place in a chunk.
const KIND: u32 = 26;

#[inline]
fn place(token: Token) -> (u32, u64) {
    let (kind, name) = match token {
        Token::Thread(name) => (0, name),
        Token::Fenced(name) => (1, name),
        Token::Loaded(name) => (2, name),
        Token::Writers(name) => (3, name),
        Token::Readers(name) => (4, name),
        Token::Round(name) => (5, name),
    };
    (kind << KIND | name >> 6, 1 << (name & 63))
}

fn token(chunk: u32, bit: u32) -> Token {
    let name = (chunk & ((1 << KIND) - 1)) << 6 | bit;
    match chunk >> KIND {
        0 => Token::Thread(name),
        1 => Token::Fenced(name),
        2 => Token::Loaded(name),
        3 => Token::Writers(name),
        4 => Token::Readers(name),
        _ => Token::Round(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn tokens() -> impl Strategy<Value = Token> {
        let name = prop_oneof![0u32..200, any::<u32>()];
        (0..6, name).prop_map(|(kind, name)| match kind {
            0 => Token::Thread(name),
            1 => Token::Fenced(name),
            2 => Token::Loaded(name),
            3 => Token::Writers(name),
            4 => Token::Readers(name),
            _ => Token::Round(name),
        })
    }

    fn rules() -> impl Strategy<Value = Rule> {
        (0..3, tokens(), tokens()).prop_map(|(kind, to, from)| match kind {
            0 => Rule::Add { to, from },
            1 => Rule::Set { to, from },
            _ => Rule::Clear { to },
        })
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_plain_set(
            start in prop::collection::vec(tokens(), 0..60),
            rules in prop::collection::vec(rules(), 0..60),
        ) {
            let mut set: Lockset = start.iter().copied().collect();
            let mut model: BTreeSet<Token> = start.into_iter().collect();
            for rule in rules {
                set.apply(rule);
                match rule {
                    Rule::Add { to, from } | Rule::Set { to, from } if model.contains(&from) => {
                        model.insert(to);
                    }
                    Rule::Add { .. } => {}
                    Rule::Set { to, .. } | Rule::Clear { to } => {
                        model.remove(&to);
                    }
                }
                prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), model.clone());
                prop_assert_eq!(&set, &model.iter().copied().collect::<Lockset>());
            }
        }
    }
}
