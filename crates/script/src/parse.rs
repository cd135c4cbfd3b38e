//! Reading a script: its head (`rule`, `source`, `profile`, `set`, `each`, `include`) and its timed lines.

use std::path::{Path, PathBuf};

use ecnlab_base::Time;
use ecnlab_wire::QuenchCause;

use crate::{Action, Case, Failure, Place, Setting, Step, parse_time, segment};

/// Most variants that the `each` lines of a script make.
const MOST_VARIANTS: usize = 10_000;
/// The latest instant of a script, about eleven days.
const LATEST: Time = Time::from_ps(1_000_000_000_000_000_000);

/// Reads one file below `roots[0]` into one case per variant. Included files are in the folder `include` of a root,
/// the first that has it.
pub fn read(roots: &[&Path], path: &Path) -> Result<Vec<Case>, Failure> {
    let file = Place { path: path.into(), ..Place::default() };
    let lines = load(path).map_err(|e| Failure::new(&file, e))?;
    if lines.is_empty() {
        return Err(Failure::new(&file, "the script is empty; it begins with a line `rule`"));
    }
    let name = roots.first().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    cases(roots, &name.with_extension("").display().to_string(), &lines)
}

/// The cases of a script already in memory; `include` looks below `roots`.
pub fn cases(roots: &[&Path], name: &str, lines: &[Place]) -> Result<Vec<Case>, Failure> {
    variants(lines)?.into_iter().map(|variant| Reader::new(roots, name, &variant).read(lines)).collect()
}

/// The lines of a text with their numbers, comments and empty lines left out.
pub fn number_lines(path: &Path, text: &str) -> Vec<Place> {
    text.lines()
        .enumerate()
        .map(|(i, line)| Place { path: path.into(), number: i + 1, text: without_comment(line).trim_end().into() })
        .filter(|line| !line.text.is_empty())
        .collect()
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

fn load(path: &Path) -> Result<Vec<Place>, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let text = str::from_utf8(&bytes)
        .map_err(|e| format!("byte {} is not UTF-8; a script is text in UTF-8", e.valid_up_to()))?;
    Ok(number_lines(path, text))
}

/// Names of an `each` line with one choice of their values.
type Variant = Vec<(String, String)>;

/// The product of all `each` lines: `each recovery in reno sack`, or `each profile,iw in modern,10 linux-2.0,1`.
fn variants(lines: &[Place]) -> Result<Vec<Variant>, Failure> {
    let mut product = vec![Variant::new()];
    for line in lines {
        let Some(rest) = line.text.strip_prefix("each ") else { continue };
        let (names, values) =
            rest.split_once(" in ").ok_or_else(|| Failure::new(line, "`each NAME in VALUE VALUE ...`"))?;
        let names: Vec<&str> = names.trim().split(',').collect();
        let mut choices = Vec::new();
        for choice in values.split_whitespace() {
            let choice: Vec<&str> = choice.split(',').collect();
            if choice.len() != names.len() {
                return Err(Failure::new(line, format!("{} names but {} values", names.len(), choice.len())));
            }
            choices.push(names.iter().zip(choice).map(|(n, v)| (n.to_string(), v.to_string())).collect::<Variant>());
        }
        if product.len().saturating_mul(choices.len()) > MOST_VARIANTS {
            return Err(Failure::new(line, format!("more than {MOST_VARIANTS} variants")));
        }
        product = product.iter().flat_map(|old| choices.iter().map(|new| [&old[..], new].concat())).collect();
    }
    Ok(product)
}

struct Reader<'a> {
    roots: &'a [&'a Path],
    variant: &'a Variant,
    case: Case,
    /// Instant of the last line: `+` counts from here, and a line without time happens here.
    now: Time,
    /// The window an arriving segment repeats when it names none.
    window: u16,
}

impl<'a> Reader<'a> {
    fn new(roots: &'a [&'a Path], name: &str, variant: &'a Variant) -> Reader<'a> {
        let choice: Vec<String> = variant.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let name = if choice.is_empty() { name.into() } else { format!("{name} [{}]", choice.join(" ")) };
        let case = Case {
            name,
            rule: String::new(),
            source: String::new(),
            profile: String::new(),
            settings: Vec::new(),
            steps: Vec::new(),
        };
        Reader { roots, variant, case, now: Time::ZERO, window: u16::MAX }
    }

    fn read(mut self, lines: &[Place]) -> Result<Case, Failure> {
        let first = lines.first().cloned().unwrap_or_default();
        self.lines(lines)?;
        for (word, text) in [("rule", &self.case.rule), ("source", &self.case.source), ("profile", &self.case.profile)]
        {
            if text.is_empty() {
                return Err(Failure::new(&first, format!("the script has no `{word}` line")));
            }
        }
        if self.case.steps.is_empty() {
            return Err(Failure::new(&first, "the script does nothing"));
        }
        Ok(self.case)
    }

    fn lines(&mut self, lines: &[Place]) -> Result<(), Failure> {
        for line in lines {
            let mut place = line.clone();
            place.text = self.substitute(line)?;
            let (word, rest) = place.text.split_once(char::is_whitespace).unwrap_or((&place.text, ""));
            let rest = rest.trim();
            match word {
                "rule" => once(&mut self.case.rule, rest, &place)?,
                "source" => once(&mut self.case.source, rest, &place)?,
                "profile" => once(&mut self.case.profile, rest, &place)?,
                "each" => {}
                "set" => self.set(rest, &place)?,
                "include" => self.include(rest, &place)?,
                _ => self.timed(&place)?,
            }
        }
        Ok(())
    }

    /// Replaces each `$name` by the variant's value; `-` stands for nothing.
    fn substitute(&self, line: &Place) -> Result<String, Failure> {
        let mut text = line.text.clone();
        // Longest names first, so that `$iw` does not eat into `$iw_bytes`.
        let mut variables: Vec<_> = self.variant.iter().collect();
        variables.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, value) in variables {
            text = text.replace(&format!("${name}"), if value == "-" { "" } else { value });
        }
        if text.contains('$') { Err(Failure::new(line, "a `$name` without its `each` line")) } else { Ok(text) }
    }

    fn set(&mut self, rest: &str, place: &Place) -> Result<(), Failure> {
        let (key, value) = rest.split_once('=').ok_or_else(|| Failure::new(place, "`set KEY = VALUE`"))?;
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        self.case.settings.push(Setting { key, value, place: place.clone() });
        Ok(())
    }

    fn include(&mut self, name: &str, place: &Place) -> Result<(), Failure> {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            return Err(Failure::new(place, "`include NAME`, of letters, digits, `-` and `_`"));
        }
        let paths = self.roots.iter().map(|root| root.join("include").join(name).with_extension("inc"));
        let paths: Vec<PathBuf> = paths.collect();
        let path = paths.iter().find(|path| path.is_file()).ok_or_else(|| {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            Failure::new(place, format!("no file is included by this name: none of {}", paths.join(", ")))
        })?;
        let lines = load(path).map_err(|e| Failure::new(place, format!("{}: {e}", path.display())))?;
        if let Some(line) = lines.iter().find(|line| line.text.starts_with("include ")) {
            return Err(Failure::new(line, "an included file includes no other"));
        }
        self.lines(&lines)
    }

    fn timed(&mut self, place: &Place) -> Result<(), Failure> {
        let text = place.text.trim();
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let body = if first.starts_with(|c: char| c.is_ascii_digit() || c == '+') {
            self.now = self.instant(first).map_err(|e| Failure::new(place, e))?;
            rest.trim()
        } else {
            text
        };
        let at = self.now;
        for action in self.actions(body).map_err(|e| Failure::new(place, e))? {
            self.case.steps.push(Step { at, action, place: place.clone() });
        }
        Ok(())
    }

    fn instant(&self, word: &str) -> Result<Time, String> {
        let instant = match word.strip_prefix('+') {
            Some(gap) => parse_time(gap).map(|gap| Time::from_ps(self.now.ps().saturating_add(gap.ps()))),
            None => parse_time(word),
        };
        match instant.ok_or(format!("`{word}` is not a time in seconds"))? {
            t if t < self.now => Err(format!("`{word}` lies before the line above")),
            t if t > LATEST => Err(format!("`{word}`: a script ends within a million seconds")),
            t => Ok(t),
        }
    }

    fn actions(&mut self, body: &str) -> Result<Vec<Action>, String> {
        let (verb, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        let alone = |action| if rest.is_empty() { Ok(vec![action]) } else { Err(format!("`{verb}` stands alone")) };
        match verb {
            "<" if rest.starts_with("quench ") => quench(rest),
            "<" => Ok(segment::parse(rest)?.into_iter().map(|s| self.arrive(s)).collect()),
            ">" => Ok(segment::parse(rest)?.into_iter().map(Action::Expect).collect()),
            "connect" => alone(Action::Connect),
            "listen" => alone(Action::Listen),
            "close" => alone(Action::Close),
            "withdraw" => alone(Action::Withdraw),
            "abort" => alone(Action::Abort),
            "nothing" => alone(Action::Nothing),
            "write" if rest == "endless" => Ok(vec![Action::Write(u64::MAX)]),
            "write" => Ok(vec![Action::Write(rest.parse().map_err(|_| format!("`{rest}` is no number of bytes"))?)]),
            "read" if rest == "later" => Ok(vec![Action::ReadLater]),
            "read" => Ok(vec![Action::Read(rest.parse().map_err(|_| format!("`{rest}` is no number of bytes"))?)]),
            "check" => checks(rest),
            _ => Err(format!(
                "`{verb}` is no command (< > connect listen write read close withdraw abort nothing check)"
            )),
        }
    }

    fn arrive(&mut self, mut segment: segment::Described) -> Action {
        self.window = *segment.window.get_or_insert(self.window);
        Action::Arrive(segment)
    }
}

fn once(field: &mut String, text: &str, place: &Place) -> Result<(), Failure> {
    if !field.is_empty() || text.is_empty() {
        return Err(Failure::new(place, "this line stands once, with a text"));
    }
    *field = text.to_owned();
    Ok(())
}

/// `quench marked 3001`: an ICMP source quench about the segment that begins there.
fn quench(rest: &str) -> Result<Vec<Action>, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (cause, seq) = match words[..] {
        [_, "marked", seq] => (QuenchCause::Marked, seq),
        [_, "dropped", seq] => (QuenchCause::Dropped, seq),
        _ => return Err("`< quench marked SEQ` or `< quench dropped SEQ`".into()),
    };
    let seq = seq.parse().map_err(|_| format!("`{seq}` is no sequence number"))?;
    Ok(vec![Action::Quench { cause, seq }])
}

/// `NAME VALUE` pairs.
fn checks(rest: &str) -> Result<Vec<Action>, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    if words.is_empty() || words.len() % 2 == 1 {
        return Err("`check NAME VALUE NAME VALUE ...`".into());
    }
    Ok(words.chunks(2).map(|w| Action::Check { name: w[0].into(), value: w[1].into() }).collect())
}
