//! Line charts as SVG that needs no script and no other file, readable on light and on dark ground.

use std::fmt::Write;

/// A line with its name.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// One axis: its label, from where to where, and where it is marked.
pub struct Axis {
    pub label: &'static str,
    pub from: f64,
    pub to: f64,
    pub ticks: Vec<f64>,
    /// Equal distances for equal factors.
    pub logarithmic: bool,
    /// Marks in per cent.
    pub percent: bool,
}

impl Axis {
    /// Shares from `from` to 1.
    pub fn share(label: &'static str, from: f64) -> Axis {
        let ticks = (0..=10).map(|at| f64::from(at) / 10.0).filter(|tick| *tick >= from - 1e-9).collect();
        Axis { label, from, to: 1.0, ticks, logarithmic: false, percent: true }
    }

    /// Where a value lies, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.logarithmic { value.max(1e-9).ln() } else { value };
        ((scale(value) - scale(self.from)) / (scale(self.to) - scale(self.from))).clamp(0.0, 1.0)
    }

    fn mark(&self, tick: f64) -> String {
        if self.percent && tick > 0.0 && tick < 0.01 {
            format!("{:.1} %", tick * 100.0)
        } else if self.percent {
            format!("{:.0} %", tick * 100.0)
        } else {
            format!("{tick}")
        }
    }
}

/// A chart of lines.
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Draws the line on which both axes agree.
    pub diagonal: bool,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 56.0;
/// Height of a line of the legend.
const LINE: f64 = 20.0;
/// Told apart in light and dark and by most of those who see colours otherwise (after Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASHES: [&str; 6] = ["none", "8 4", "2 3", "10 3 2 3", "6 2", "1 2"];

impl Chart {
    /// The chart as one SVG element.
    pub fn svg(&self) -> String {
        let height = HEIGHT + LINE * self.series.len() as f64;
        let mut out = String::new();
        self.draw(&mut out, height).unwrap_or_default();
        out
    }

    fn draw(&self, out: &mut String, height: f64) -> std::fmt::Result {
        write!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="{}">
<style>.ground{{fill:#ffffff}}.grid{{stroke:#d8dee4}}.axis{{stroke:#57606a}}text{{fill:#24292f;font:13px system-ui,sans-serif}}.title{{font-size:16px;font-weight:600}}.line{{fill:none;stroke-width:2.5}}
@media (prefers-color-scheme:dark){{.ground{{fill:#0d1117}}.grid{{stroke:#30363d}}.axis{{stroke:#8b949e}}text{{fill:#e6edf3}}}}</style>
<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>
<text class="title" x="{LEFT}" y="28">{}</text>
"##,
            escape(&self.title),
            escape(&self.title)
        )?;
        for tick in &self.x.ticks {
            let (x, _) = self.place(*tick, self.y.from);
            writeln!(out, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{:.1}"/>"#, HEIGHT - BOTTOM)?;
            let mark = self.x.mark(*tick);
            writeln!(out, r#"<text x="{x:.1}" y="{:.1}" text-anchor="middle">{mark}</text>"#, HEIGHT - BOTTOM + 18.0)?;
        }
        for tick in &self.y.ticks {
            let (_, y) = self.place(self.x.from, *tick);
            writeln!(out, r#"<line class="grid" x1="{LEFT}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#, WIDTH - RIGHT)?;
            let mark = self.y.mark(*tick);
            writeln!(out, r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{mark}</text>"#, LEFT - 8.0, y + 4.0)?;
        }
        let (middle, foot) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14.0);
        writeln!(out, r#"<text x="{middle}" y="{foot}" text-anchor="middle">{}</text>"#, escape(self.x.label))?;
        let centre = (TOP + HEIGHT - BOTTOM) / 2.0;
        writeln!(
            out,
            r#"<text transform="translate(16 {centre}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(self.y.label)
        )?;
        if self.diagonal {
            let ((x1, y1), (x2, y2)) = (self.place(self.x.from, self.x.from), self.place(self.x.to, self.x.to));
            writeln!(
                out,
                r#"<line class="axis" stroke-dasharray="4 4" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
            )?;
        }
        for ((number, series), (colour, dash)) in self.series.iter().enumerate().zip(COLOURS.iter().zip(DASHES).cycle())
        {
            let points = series.points.iter().map(|(x, y)| self.place(*x, *y));
            let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            writeln!(
                out,
                r#"<polyline class="line" stroke="{colour}" stroke-dasharray="{dash}" points="{}"/>"#,
                points.join(" ")
            )?;
            let y = HEIGHT + LINE * number as f64;
            writeln!(
                out,
                r#"<line class="line" stroke="{colour}" stroke-dasharray="{dash}" x1="{LEFT}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/><text x="{:.1}" y="{:.1}">{}</text>"#,
                LEFT + 36.0,
                LEFT + 46.0,
                y + 4.0,
                escape(&series.name)
            )?;
        }
        out.push_str("</svg>\n");
        Ok(())
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + width * self.x.place(x), TOP + height * (1.0 - self.y.place(y)))
    }
}

/// A text as it may stand in HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_shows_every_series_where_it_lies() {
        let budget = Axis {
            label: "bytes",
            from: 256.0,
            to: 4096.0,
            ticks: vec![256.0, 1024.0, 4096.0],
            logarithmic: true,
            percent: false,
        };
        let chart = Chart {
            title: "a < b".into(),
            x: budget,
            y: Axis::share("share", 0.5),
            series: vec![Series { name: "one".into(), points: vec![(256.0, 0.5), (1024.0, 0.75), (4096.0, 1.0)] }],
            diagonal: false,
        };
        let svg = chart.svg();
        // Left below, the middle, right above.
        assert!(svg.contains(r#"points="64.0,344.0 340.0,196.0 616.0,48.0""#), "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains(">one</text>") && svg.contains(">50 %</text>"));
    }
}
