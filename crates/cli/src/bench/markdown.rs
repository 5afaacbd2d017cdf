//! Tables.

use std::fmt;

/// A table: names left, numbers right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    /// How many of the first columns are names.
    names: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these columns, of which so many are names.
    pub fn new(names: usize, head: impl IntoIterator<Item = impl Into<String>>) -> Table {
        Table {
            head: head.into_iter().map(Into::into).collect(),
            names,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.head.join(" | "))?;
        let rule = |n| if n < self.names { "---|" } else { "---:|" };
        let rules: String = (0..self.head.len()).map(rule).collect();
        writeln!(f, "|{rules}")?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// A ratio or a time with three digits that say something.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// Bytes as megabytes.
pub fn megabytes(bytes: f64) -> String {
    number(bytes / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_say_something() {
        for (value, expect) in [
            (0.0, "0"),
            (0.00001, "1.0e-5"),
            (0.126, "0.13"),
            (5.126, "5.13"),
            (51.26, "51.3"),
            (512.6, "513"),
        ] {
            assert_eq!(number(value), expect);
        }
        assert_eq!(megabytes(1_572_864.0), "1.50");
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(1, ["name", "s"]);
        table.row(["fft", "1.5"]);
        assert_eq!(table.to_string(), "| name | s |\n|---|---:|\n| fft | 1.5 |\n");
    }
}
