/// Base letters of U+00C0 to U+017F, one each, in order.
const LATIN_1_AND_A: &str = "aaaaaaæceeeeiiiidnooooo×ouuuuyþßaaaaaaæceeeeiiiidnooooo÷ouuuuyþyaaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiĳĳjjkkkllllllllllnnnnnnnnnooooooœœrrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
/// Base letters of U+1E00 to U+1EFF, one each, in order.
const LATIN_ADDITIONAL: &str = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyasssßdaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyllvvyy";
/// Full-width forms of the half-width katakana U+FF65 to U+FF9D, one each, in order.
const KATAKANA: &str = "・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";

/// Writes `c` in the form that words are compared in: lower case, full-width and half-width forms made
/// ordinary, diacritics of Latin letters taken off, `ß æ œ` spelled out. Combining marks vanish.
///
/// `out` may hold what came before: a half-width voicing mark changes the katakana letter it follows.
pub fn fold(c: char, out: &mut String) {
    match c {
        '\0'..='\x7f' => out.push(c.to_ascii_lowercase()),
        '\u{c0}'..='\u{17f}' => push_latin(LATIN_1_AND_A, c, 0xc0, out),
        '\u{1e00}'..='\u{1eff}' => push_latin(LATIN_ADDITIONAL, c, 0x1e00, out),
        '\u{300}'..='\u{36f}' => {}
        // The kana voicing marks as combining characters, and their half-width forms.
        '\u{3099}' | '\u{ff9e}' => voice(out, 1),
        '\u{309a}' | '\u{ff9f}' => voice(out, 2),
        '\u{ff01}'..='\u{ff5e}' => {
            out.push(char::from_u32(c as u32 - 0xfee0).unwrap_or(c).to_ascii_lowercase());
        }
        '\u{ff65}'..='\u{ff9d}' => out.push(nth(KATAKANA, c, 0xff65)),
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => out.push('\''),
        '\u{2010}' | '\u{2011}' => out.push('-'),
        _ => out.extend(c.to_lowercase().filter(|c| !('\u{300}'..='\u{36f}').contains(c))),
    }
}

fn nth(table: &str, c: char, first: u32) -> char {
    table.chars().nth((c as u32 - first) as usize).unwrap_or(c)
}

fn push_latin(table: &str, c: char, first: u32, out: &mut String) {
    match nth(table, c, first) {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'þ' => out.push_str("th"),
        'ĳ' => out.push_str("ij"),
        base => out.push(base),
    }
}

/// Voices (step 1) or half-voices (step 2) the kana that `out` ends in: in Unicode the voiced letter
/// follows the plain one.
fn voice(out: &mut String, step: u32) {
    let Some(last) = out.pop() else { return };
    let voiced = match last {
        'ウ' if step == 1 => Some('ヴ'),
        'か'..='ぢ' | 'つ'..='ど' | 'カ'..='ヂ' | 'ツ'..='ド' if step == 1 => char::from_u32(last as u32 + 1),
        'は'..='ぽ' | 'ハ'..='ポ' => char::from_u32(last as u32 + step),
        _ => None,
    };
    out.push(voiced.unwrap_or(last));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_width_and_diacritics() {
        let cases = [
            ("Straße", "strasse"),
            ("ÜBER Café naïve Łódź", "uber cafe naive lodz"),
            ("cafe\u{301}", "cafe"),
            ("Ｗｉ－Ｆｉ １２３", "wi-fi 123"),
            ("ﾊﾟｿｺﾝ ｶﾞｲﾄﾞ", "パソコン ガイド"),
            ("Việt", "viet"),
            ("ПРИВЕТ", "привет"),
            ("İstanbul", "istanbul"),
            ("l’été", "l'ete"),
        ];
        for (text, expected) in cases {
            let mut out = String::new();
            text.chars().for_each(|c| fold(c, &mut out));
            assert_eq!(out, expected, "{text}");
        }
    }

    #[test]
    fn tables_cover_their_ranges() {
        assert_eq!(LATIN_1_AND_A.chars().count(), 192);
        assert_eq!(LATIN_ADDITIONAL.chars().count(), 256);
        assert_eq!(KATAKANA.chars().count(), 57);
    }
}
