//! Which functions are recorded: what the user includes and excludes, by globs.
//!
//! A glob (`*` stands for any text, `?` for one character) fits a function if it fits its name as the linker sees it, its path
//! (`crate::module::function`, without parameters) or a path that this one begins with, or the source file or its last parts.
//! What is fitted by an exclusion is left out; if there are inclusions, so is all that none of them fits.
//!
//! Functions of the standard libraries and of the system's headers belong to whoever calls them, unless a glob fits them.

use cpp_demangle::{DemangleOptions, Symbol};

/// What to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// If there are some, what fits none of them is left out.
    pub include: Vec<String>,
    /// What fits one of them is left out.
    pub exclude: Vec<String>,
}

/// How a function is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is recorded, whoever calls it.
    Recorded,
    /// It is recorded if its caller is.
    Callers,
    /// It is not recorded: calls of it are missing calls.
    Excluded,
}

/// Names that globs of the standard library's archives begin with.
const STANDARD: [&str; 3] = ["std", "core", "alloc"];

impl Selection {
    /// From globs, one a line or between semicolons.
    pub fn parse(include: &str, exclude: &str) -> Selection {
        let globs = |text: &str| {
            let globs = text.split(['\n', ';']).map(str::trim);
            globs.filter(|glob| !glob.is_empty()).map(str::to_owned).collect()
        };
        Selection {
            include: globs(include),
            exclude: globs(exclude),
        }
    }

    /// Whether everything is recorded.
    pub fn is_all(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// What of it matters to the compiled standard library: nothing, mostly, so that it need not be compiled again.
    pub fn of_standard_library(&self) -> Selection {
        let matters = |glob: &&String| {
            let first = glob.split("::").next().unwrap_or_default();
            let literal = first.split(['*', '?']).next().unwrap_or_default();
            literal.len() < first.len()
                || STANDARD.contains(&first)
                || first.starts_with(['_', '<', '/'])
                || !glob.contains("::") && glob.ends_with(".rs")
        };
        let kept = |globs: &[String]| globs.iter().filter(matters).cloned().collect();
        Selection {
            // What is not included by name belongs to the caller here.
            include: Vec::new(),
            exclude: kept(&self.exclude),
        }
    }

    /// How a function that is defined is treated; `file` is its source.
    pub fn treats(&self, name: &str, file: Option<&str>) -> Treatment {
        if self.is_all() {
            return Treatment::Recorded;
        }
        let path = path(name);
        let fits = |globs: &[String]| globs.iter().any(|glob| fits_function(glob, name, &path, file));
        if fits(&self.exclude) {
            Treatment::Excluded
        } else if fits(&self.include) {
            Treatment::Recorded
        } else if is_of_system(&path, file) {
            Treatment::Callers
        } else if self.include.is_empty() {
            Treatment::Recorded
        } else {
            Treatment::Excluded
        }
    }

    /// Whether a function that is only declared is excluded.
    pub fn excludes_declared(&self, name: &str) -> bool {
        let path = path(name);
        self.exclude
            .iter()
            .any(|glob| fits_function(glob, name, &path, None))
    }
}

fn fits_function(glob: &str, name: &str, path: &str, file: Option<&str>) -> bool {
    if fits(glob, name) {
        return true;
    }
    let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
    if ends.into_iter().any(|end| end > 0 && fits(glob, &path[..end])) {
        return true;
    }
    let Some(file) = file else { return false };
    let starts = file.match_indices('/').map(|(at, _)| at + 1);
    [0].into_iter()
        .chain(starts)
        .any(|start| fits(glob, &file[start..]))
}

/// Whether its source is the compiler's or the system's.
fn is_of_system(path: &str, file: Option<&str>) -> bool {
    let ours = ["/rustc/", "/usr/include/", "/usr/lib/", "/usr/local/include/"];
    let by_file =
        |file: &str| ours.iter().any(|start| file.starts_with(start)) || file.contains("/rustlib/src/");
    let first = path.split("::").next().unwrap_or_default();
    file.is_some_and(by_file) || STANDARD.contains(&first) || first == "__gnu_cxx"
}

/// The path of a function: its readable name, without parameters; of a method of a trait, `type::method`.
pub fn path(name: &str) -> String {
    let readable = match rustc_demangle::try_demangle(name) {
        Ok(rust) => format!("{rust:#}"),
        Err(_) => {
            let options = DemangleOptions::default().no_params().no_return_type();
            let demangle = |symbol: Symbol<&str>| symbol.demangle_with_options(&options).ok();
            Symbol::new(name)
                .ok()
                .and_then(demangle)
                .unwrap_or_else(|| name.to_owned())
        }
    };
    of_type(&readable).unwrap_or(readable)
}

/// `<a::B as c::D>::e` is `a::B::e`; if its type says nothing (`<T as c::D>::e`), `c::D::e`.
fn of_type(readable: &str) -> Option<String> {
    let inner = readable.strip_prefix('<')?;
    let mut depth = 1;
    let end = inner.char_indices().find(|(at, letter)| {
        match letter {
            '<' => depth += 1,
            // Not the arrow of a function's type.
            '>' if !inner[..*at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (ty, method) = (&inner[..end.0], &inner[end.0 + 1..]);
    let (own, of) = ty.split_once(" as ").unwrap_or((ty, ""));
    let own = own.trim_start_matches(['&', '*', '[', '(', '<']);
    let own = own
        .strip_prefix("mut ")
        .or(own.strip_prefix("const "))
        .unwrap_or(own);
    let ty = if own.contains("::") || of.is_empty() {
        own
    } else {
        of
    };
    Some(format!("{ty}{method}"))
}

/// Whether a text fits a glob.
fn fits(glob: &str, text: &str) -> bool {
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut g, mut t) = (0, 0);
    // Where to go on if what follows the last `*` does not fit: it stands for one byte more.
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                back = Some((g + 1, t));
                g += 1;
            }
            Some(letter) if *letter == text[t] || *letter == b'?' => (g, t) = (g + 1, t + 1),
            _ => match back {
                Some((after, at)) => {
                    back = Some((after, at + 1));
                    (g, t) = (after, at + 1);
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_as_a_whole() {
        for (glob, text, fit) in [
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*b*c", "abbc", true),
            ("*b*c", "abbcd", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(glob, text), fit, "{glob} {text}");
        }
    }

    #[test]
    fn functions_are_known_by_name_path_module_and_file() {
        let rust = "_ZN7account4bank7deposit17h0123456789abcdefE";
        let of_trait =
            "_ZN55_$LT$account..Pool$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE";
        let cpp = "_ZN4pool5Queue4pushERKi";
        for (glob, name, file) in [
            ("account", rust, None),
            ("account::bank", rust, None),
            ("account::*::deposit", rust, None),
            ("*::deposit", rust, None),
            ("account::Pool", of_trait, None),
            ("pool::Queue", cpp, None),
            ("pool::Queue::push", cpp, None),
            ("_ZN4pool*", cpp, None),
            ("with_lock", "with_lock", None),
            ("lock.c", "f", Some("/home/a/src/lock.c")),
            ("src/*.c", "f", Some("/home/a/src/lock.c")),
        ] {
            let selection = Selection::parse("", glob);
            assert_eq!(selection.treats(name, file), Treatment::Excluded, "{glob} {name}");
            let selection = Selection::parse("", "other; lock");
            assert_eq!(selection.treats(name, file), Treatment::Recorded, "{name}");
            let selection = Selection::parse(glob, "");
            assert_eq!(selection.treats(name, file), Treatment::Recorded, "{glob} {name}");
            assert_eq!(selection.treats("else", Some("else.c")), Treatment::Excluded);
        }
    }

    #[test]
    fn the_standard_library_belongs_to_its_caller() {
        let std = "_ZN3std4sync6poison5mutex14Mutex$LT$T$GT$4lock17h0123456789abcdefE";
        let selection = Selection::parse("mine", "");
        assert_eq!(
            selection.treats(std, Some("/rustc/1/library/std/a.rs")),
            Treatment::Callers
        );
        assert_eq!(selection.of_standard_library(), Selection::default());
        let selection = Selection::parse("", "std::sync\nmine");
        assert_eq!(selection.treats(std, None), Treatment::Excluded);
        assert_eq!(selection.of_standard_library(), Selection::parse("", "std::sync"));
        assert_eq!(Selection::default().treats(std, None), Treatment::Recorded);
    }

    #[test]
    fn a_method_of_a_trait_is_one_of_its_type() {
        for (readable, path) in [
            ("<a::B as c::D>::e", "a::B::e"),
            (
                "<T as core::convert::Into<U>>::into",
                "core::convert::Into<U>::into",
            ),
            ("<a::B<c::D>>::e", "a::B<c::D>::e"),
            ("<&mut a::B as c::D>::e", "a::B::e"),
            ("<fn() -> a as b::C>::d", "b::C::d"),
        ] {
            assert_eq!(of_type(readable).as_deref(), Some(path), "{readable}");
        }
        assert_eq!(of_type("a::b"), None);
    }
}
