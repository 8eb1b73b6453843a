// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! "Did you mean": the known word nearest to a mistyped one.

/// Longest word that is worth comparing; the cost is quadratic.
const LONGEST: usize = 100;

/// The word nearest to `wrong`, if near enough that the writer may have
/// meant it: at most two characters in five differ.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase().replace('-', "_");
    let ranked = known.into_iter().map(|word| {
        let plain = word.to_lowercase().replace('-', "_");
        (distance(&wrong, &plain), word)
    });
    let (distance, word) = ranked.min_by_key(|(distance, _)| *distance)?;
    let longer = wrong.chars().count().max(word.chars().count());
    (5 * distance <= 2 * longer).then_some(word)
}

/// "; did you mean 'x'?", or nothing.
pub fn hint<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, known).map_or_else(String::new, |word| format!("; did you mean '{word}'?"))
}

/// Edits that turn `a` into `b`: insert, delete, replace, swap neighbours
/// (optimal string alignment).
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(LONGEST).collect();
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        for (a, b, d) in [
            ("", "", 0),
            ("", "abc", 3),
            ("at_mots", "at_most", 1),
            ("kitten", "sitting", 3),
            ("abc", "abc", 0),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (d, d), "{a} {b}");
        }
    }

    #[test]
    fn only_near_words_are_offered() {
        assert_eq!(nearest("atmost", ["at_least", "at_most"]), Some("at_most"));
        assert_eq!(nearest("preempt-rt", ["preempt_rt"]), Some("preempt_rt"));
        assert_eq!(nearest("zebra", ["at_least", "at_most"]), None);
        assert_eq!(hint("x", []), "");
    }
}
