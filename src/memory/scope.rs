use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Named dimensions (tenant, user, workspace, project, session ...) that bound who may see a record.
///
/// The rule, everywhere: a record is visible only if **every dimension it names equals the
/// request's**. A record that names none is global; a request without a scope sees global records only.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope(BTreeMap<String, String>);

impl Scope {
    /// The scope that names no dimension.
    pub fn global() -> Self {
        Self::default()
    }

    /// Adds one dimension. A later value for the same name replaces the earlier one.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// True where no dimension is named.
    pub fn is_global(&self) -> bool {
        self.0.is_empty()
    }

    /// Dimensions in the order of their names.
    pub fn dimensions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a request made in this scope may see something that lives in `owner`.
    pub fn admits(&self, owner: &Scope) -> bool {
        owner.0.iter().all(|(name, value)| self.0.get(name) == Some(value))
    }

    /// Number of dimensions in which `owner` and this scope agree: how specific a visible record is.
    pub fn specificity(&self, owner: &Scope) -> usize {
        owner.0.iter().filter(|(name, value)| self.0.get(*name) == Some(value)).count()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Scope {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(dimensions: I) -> Self {
        Scope(dimensions.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_visible_only_if_every_dimension_it_names_matches() {
        let acme = Scope::global().with("tenant", "acme");
        let acme_ana = acme.clone().with("user", "ana");
        let cases = [
            // request, owner, visible, specificity
            (Scope::global(), Scope::global(), true, 0),
            (Scope::global(), acme.clone(), false, 0),
            (acme.clone(), Scope::global(), true, 0),
            (acme.clone(), acme.clone(), true, 1),
            (acme.clone(), acme_ana.clone(), false, 1),
            (acme_ana.clone(), acme.clone(), true, 1),
            (acme_ana.clone(), acme_ana.clone(), true, 2),
            (acme_ana.clone(), Scope::global().with("tenant", "globex"), false, 0),
            (acme_ana, Scope::global().with("region", "eu"), false, 0),
        ];
        for (request, owner, visible, specificity) in cases {
            assert_eq!(request.admits(&owner), visible, "{request:?} sees {owner:?}");
            assert_eq!(request.specificity(&owner), specificity, "{request:?} against {owner:?}");
        }
    }
}
