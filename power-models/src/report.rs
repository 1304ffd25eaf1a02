// SPDX-License-Identifier: GPL-2.0-or-later
//! McPAT's printed report as a tree of components.

/// One component: its own figures as printed (they include those of its parts).
#[derive(Clone, Debug, Default)]
pub struct Component {
    pub name: String,
    pub area_mm2: f64,
    pub subthreshold_w: f64,
    /// `None` where McPAT prints none (the units "Memory Management" and "Execution").
    pub gate_w: Option<f64>,
    pub dynamic_w: f64,
    pub parts: Vec<Component>,
}

impl Component {
    /// Gate leakage: printed, or else the sum over the parts.
    pub fn gate(&self) -> f64 {
        self.gate_w.unwrap_or_else(|| self.parts.iter().map(Component::gate).sum())
    }

    /// Run-time dynamic power less that of the parts: pipeline registers and what is not listed.
    pub fn own_dynamic(&self) -> f64 {
        self.dynamic_w - self.parts.iter().map(|part| part.dynamic_w).sum::<f64>()
    }

    /// Every component with its path of names, parents first.
    pub fn walk<'a>(&'a self, path: &str, visit: &mut dyn FnMut(&str, &'a Component)) {
        let path =
            if path.is_empty() { self.name.clone() } else { format!("{path}/{}", self.name) };
        visit(&path, self);
        for part in &self.parts {
            part.walk(&path, visit);
        }
    }
}

/// The per-component section (after the summary by kind) of the report `text`.
pub fn parse(text: &str) -> Result<Vec<Component>, String> {
    let bars: Vec<usize> = text.match_indices("*****\n").map(|(at, _)| at).collect();
    // The first two bars frame the header, the third ends the summary.
    let start = *bars.get(2).ok_or("McPAT's report has no section of components")?;
    let mut stack: Vec<(usize, Component)> = Vec::new();
    let mut roots = Vec::new();
    for line in text[start..].lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with("****") {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        match content.split_once(" = ") {
            Some((key, value)) => {
                let component = &mut stack.last_mut().ok_or_else(|| stray(content))?.1;
                figure(component, key, value)?;
            }
            None => {
                close(&mut stack, &mut roots, indent);
                let name = heading(content);
                stack.push((indent, Component { name, ..Component::default() }));
            }
        }
    }
    close(&mut stack, &mut roots, 0);
    // A heading without figures ("Local Predictor:") only announces the next ones.
    for root in &mut roots {
        drop_empty(root);
    }
    Ok(roots)
}

fn stray(content: &str) -> String {
    format!("McPAT's report has a figure outside of a component: {content}")
}

/// A heading as a name: without the colon, the count and the checkpoints.
fn heading(content: &str) -> String {
    let cut = content.find(" (Count").unwrap_or(content.len());
    let cut = cut.min(content.find(" with ").unwrap_or(content.len()));
    content[..cut].trim_end_matches(':').trim().to_owned()
}

/// End every open component that is not a parent of what begins at `indent`.
fn close(stack: &mut Vec<(usize, Component)>, roots: &mut Vec<Component>, indent: usize) {
    while stack.last().is_some_and(|(open, _)| *open >= indent) {
        let (_, done) = stack.pop().expect("the stack has a last element");
        match stack.last_mut() {
            Some((_, parent)) => parent.parts.push(done),
            None => roots.push(done),
        }
    }
}

fn drop_empty(component: &mut Component) {
    component.parts.retain(|part| part.area_mm2 != 0.0 || !part.parts.is_empty());
    component.parts.iter_mut().for_each(drop_empty);
}

fn figure(component: &mut Component, key: &str, value: &str) -> Result<(), String> {
    let number = value.split_whitespace().next().unwrap_or(value);
    let number: f64 =
        number.parse().ok().filter(|parsed: &f64| parsed.is_finite()).ok_or_else(|| {
            format!("McPAT's report: {}: {key} = {value}: not a number", component.name)
        })?;
    match key {
        "Area" | "Area Overhead" => component.area_mm2 = number,
        "Subthreshold Leakage" => component.subthreshold_w = number,
        "Gate Leakage" => component.gate_w = Some(number),
        "Runtime Dynamic" => component.dynamic_w = number,
        "Peak Dynamic" | "Subthreshold Leakage with power gating" => (),
        _ => return Err(format!("McPAT's report: {}: unknown figure {key}", component.name)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse;

    const REPORT: &str = "\
*****
  Technology 40 nm
*****
Processor: 
  Area = 5.39698 mm^2
*****
Core:
      Area = 2.5 mm^2
      Subthreshold Leakage = 0.5 W
      Gate Leakage = 0.25 W
      Runtime Dynamic = 1 W

      Execution Unit:
        Area = 1.5 mm^2
        Subthreshold Leakage = 0.125
        Runtime Dynamic = 0.75 W

          Integer ALUs (Count: 3 ):
            Area = 0.5 mm^2
            Gate Leakage = 0.0625 W
            Runtime Dynamic = 0.5 W

          Local Predictor:
          L1_Local Predictor:
            Area = 0.25 mm^2
            Gate Leakage = 0.125 W
            Runtime Dynamic = 0.125 W

*****
L2
      Area = 1 mm^2
      Runtime Dynamic = 2 W
";

    #[test]
    fn nesting_follows_the_indent() {
        let roots = parse(REPORT).unwrap();
        let names: Vec<&str> = roots.iter().map(|root| root.name.as_str()).collect();
        assert_eq!(names, ["Core", "L2"]);
        let unit = &roots[0].parts[0];
        assert_eq!(unit.name, "Execution Unit");
        assert_eq!(unit.gate(), 0.1875);
        assert_eq!(unit.own_dynamic(), 0.125);
        assert_eq!(unit.parts[0].name, "Integer ALUs");
        assert_eq!(unit.parts[1].name, "L1_Local Predictor");
        let mut paths = Vec::new();
        roots[0].walk("", &mut |path, _| paths.push(path.to_owned()));
        assert_eq!(paths[2], "Core/Execution Unit/Integer ALUs");
    }

    #[test]
    fn a_figure_that_is_no_number_is_an_error() {
        let broken = REPORT.replace("Area = 1 mm^2", "Area = nan mm^2");
        assert!(parse(&broken).unwrap_err().contains("L2: Area = nan mm^2"));
    }
}
