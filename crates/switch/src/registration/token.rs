//! The token that members show, compared.

use ring::hmac;
use ring::rand::SystemRandom;

use crate::config::Token;

/// Compares tokens with the right one, in a time that tells nothing of either.
pub(super) struct TokenCheck {
    key: hmac::Key,
    right: hmac::Tag,
}

impl TokenCheck {
    /// `None` if the kernel gives no random numbers.
    pub(super) fn new(right: &Token) -> Option<TokenCheck> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        Some(TokenCheck { right: hmac::sign(&key, right.secret().as_bytes()), key })
    }

    pub(super) fn is_right(&self, shown: &Token) -> bool {
        hmac::verify(&self.key, shown.secret().as_bytes(), self.right.as_ref()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_right() {
        let token = |text| Token::new(text).unwrap();
        let check = TokenCheck::new(&token("0123456789abcdef")).unwrap();
        assert!(check.is_right(&token("0123456789abcdef")));
        assert!(!check.is_right(&token("0123456789abcdeF")));
        assert!(!check.is_right(&token("0123456789abcdef0")));
    }
}
