// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tokens of TSDL.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token<'a> {
    Word(&'a str),
    Int(u64),
    Text(String),
    /// One of { } [ ] ( ) < > ; , : = . - + * or ":=" or "...".
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 18] = [
    "...", ":=", "{", "}", "[", "]", "(", ")", "<", ">", ";", ",", ":", "=", ".", "-", "+", "*",
];

#[derive(Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer {
            text,
            at: 0,
            line: 1,
        }
    }

    /// The next token with its line, or what is wrong there.
    pub fn next(&mut self) -> (u32, Result<Token<'a>, String>) {
        if let Err(e) = self.skip_space() {
            return (self.line, Err(e));
        }
        (self.line, self.token())
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + bytes];
        self.line += passed.iter().filter(|b| **b == b'\n').count() as u32;
        self.at += bytes;
    }

    fn skip_space(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let blank = rest.len()
                - rest
                    .trim_start_matches([' ', '\t', '\r', '\n', '\0', '\x0c'])
                    .len();
            if blank > 0 {
                self.advance(blank);
            } else if rest.starts_with("//") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    self.advance(rest.len());
                    return Err("comment without end".into());
                };
                self.advance(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token<'a>, String> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token::End);
        };
        if first.is_ascii_alphabetic() || first == '_' {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            self.advance(end);
            return Ok(Token::Word(&rest[..end]));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '"' || first == '\'' {
            return self.string(first);
        }
        if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            self.advance(sign.len());
            return Ok(Token::Sign(sign));
        }
        self.advance(first.len_utf8());
        Err(format!("unexpected character {first:?}"))
    }

    fn number(&mut self) -> Result<Token<'a>, String> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        self.advance(end);
        let literal = rest[..end].to_ascii_lowercase();
        let digits = literal.trim_end_matches(['u', 'l']);
        let value = if let Some(hex) = digits.strip_prefix("0x") {
            u64::from_str_radix(hex, 16)
        } else if let Some(binary) = digits.strip_prefix("0b") {
            u64::from_str_radix(binary, 2)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(digits, 8)
        } else {
            digits.parse()
        };
        value
            .map(Token::Int)
            .map_err(|_| format!("'{}' is no number", &rest[..end]))
    }

    fn string(&mut self, quote: char) -> Result<Token<'a>, String> {
        let rest = self.rest();
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.advance(i + 1);
                return Ok(Token::Text(out));
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('0') => out.push('\0'),
                Some(c) => out.push(c),
                None => break,
            }
        }
        self.advance(rest.len());
        Err("string without end".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(u32, Result<Token<'_>, String>)> {
        let mut lexer = Lexer::new(text);
        let mut out = vec![];
        loop {
            let (line, token) = lexer.next();
            if token == Ok(Token::End) {
                return out;
            }
            out.push((line, token));
        }
    }

    #[test]
    fn tokens_comments_and_lines() {
        let t = all("/* CTF 1.8 */\r\na_1 := 0x1fUL; // x\n\"q\\\"\\n\" 0 ... 017");
        let tokens: Vec<_> = t.iter().map(|(_, t)| t.clone().unwrap()).collect();
        assert_eq!(
            tokens,
            [
                Token::Word("a_1"),
                Token::Sign(":="),
                Token::Int(31),
                Token::Sign(";"),
                Token::Text("q\"\n".into()),
                Token::Int(0),
                Token::Sign("..."),
                Token::Int(15)
            ]
        );
        assert_eq!((t[0].0, t[4].0), (2, 3));
    }

    #[test]
    fn faults_do_not_stop_it() {
        assert!(all("§ a").len() == 2 && all("§ a")[0].1.is_err());
        assert!(all("99999999999999999999")[0].1.is_err());
        assert!(all("/* no end")[0].1.is_err());
        assert!(all("\"no end")[0].1.is_err());
    }
}
