use std::fmt;

use serde::{Deserialize, Serialize};

/// The part of the block's delimiters that stored text cannot guess: 8 to 32 ASCII letters and digits.
///
/// Make one for each session from fresh randomness ([`Nonce::from_bytes`]); give a fixed one for output
/// that can be reproduced. It is a second lock: a stored text that knows it is still escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce(String);

/// A nonce, or the randomness for one, has the wrong length or a character that is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadNonce;

impl Nonce {
    /// Takes a text as it is.
    ///
    /// # Errors
    /// When it is not 8 to 32 ASCII letters and digits.
    pub fn new(text: impl Into<String>) -> Result<Self, BadNonce> {
        let text = text.into();
        let fits = (8..=32).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) { Ok(Nonce(text)) } else { Err(BadNonce) }
    }

    /// Writes random bytes in base 32: 8 bytes, the least, give 13 characters; 16, the most, give 26.
    ///
    /// # Errors
    /// When there are fewer than 8 or more than 16 bytes.
    pub fn from_bytes(random: &[u8]) -> Result<Self, BadNonce> {
        if !(8..=16).contains(&random.len()) {
            return Err(BadNonce);
        }
        let mut text = String::with_capacity(26);
        let (mut held, mut bits) = (0_u32, 0);
        for &byte in random {
            held = held << 8 | u32::from(byte);
            bits += 8;
            while bits >= 5 {
                bits -= 5;
                text.push(digit(held >> bits));
            }
            held &= (1 << bits) - 1;
        }
        if bits > 0 {
            text.push(digit(held << (5 - bits)));
        }
        Ok(Nonce(text))
    }

    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn digit(value: u32) -> char {
    char::from_digit(value & 31, 32).unwrap_or('0')
}

impl TryFrom<String> for Nonce {
    type Error = BadNonce;
    fn try_from(text: String) -> Result<Self, BadNonce> {
        Nonce::new(text)
    }
}

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> String {
        nonce.0
    }
}

impl fmt::Display for BadNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a nonce is 8 to 32 ASCII letters and digits, made of 8 to 16 random bytes")
    }
}

impl std::error::Error for BadNonce {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_a_delimiter_can_carry() {
        let cases = [
            ("7q3m2k9d", true),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", true),
            ("7q3m2k9", false),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456", false),
            ("7q3m2k9\"", false),
            ("7q3m 2k9d", false),
            ("７q3m2k9d", false),
            ("", false),
        ];
        for (text, good) in cases {
            assert_eq!(Nonce::new(text).is_ok(), good, "{text:?}");
        }
    }

    #[test]
    fn random_bytes_become_distinct_valid_text() {
        let nonce = |bytes: &[u8]| Nonce::from_bytes(bytes).map(String::from);
        assert_eq!(nonce(&[0; 8]).as_deref(), Ok("0000000000000"));
        assert_eq!(nonce(&[255; 8]).as_deref(), Ok("vvvvvvvvvvvvu"));
        assert_eq!(nonce(&[1, 2, 3, 4, 5, 6, 7, 8]).as_deref(), Ok("041061050o3gg"));
        assert_eq!(nonce(&[7; 16]).map(|text| text.len()), Ok(26));
        assert_eq!(nonce(&[7; 7]), Err(BadNonce));
        assert_eq!(nonce(&[7; 17]), Err(BadNonce));
        for byte in 0..8 {
            let mut bytes = [0; 8];
            bytes[byte] = 1;
            assert_ne!(nonce(&bytes), nonce(&[0; 8]), "byte {byte} counts");
        }
    }
}
