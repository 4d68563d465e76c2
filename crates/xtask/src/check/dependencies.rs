//! Rules 1 and 2: which crate may depend on which, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::check::Violation;
use crate::process::{cargo, output};
use crate::workspace::Workspace;

/// What each of our crates may take of ours, beside `testkit` for its tests.
const ALLOWED: [(&str, &[&str]); 8] = [
    ("domain", &[]),
    ("engine", &["domain"]),
    ("app", &["domain", "engine"]),
    ("frontend", &["app"]),
    ("server", &["app", "engine", "domain"]),
    ("testkit", &["engine", "demo", "domain"]),
    ("demo", &[]),
    ("xtask", &[]),
];

/// What may nowhere be below `domain`: it is pure and builds for the browser.
const IMPURE: [&str; 12] = [
    "tokio",
    "sqlx",
    "sqlx-core",
    "reqwest",
    "hyper",
    "axum",
    "leptos",
    "a2a-lf",
    "a2a-pb",
    "rand",
    "getrandom",
    "uuid",
];

/// One dependency in a crate's manifest.
#[derive(Clone, Debug, Default)]
struct Dependency {
    name: String,
    for_tests: bool,
    optional: bool,
    target: Option<String>,
}

/// One crate of ours.
#[derive(Clone, Debug, Default)]
struct Member {
    dependencies: Vec<Dependency>,
    features: BTreeMap<String, Vec<String>>,
}

/// What cargo says of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    members: BTreeMap<String, Member>,
    /// By package id: its name and what it is built of, tests apart.
    graph: BTreeMap<String, (String, Vec<String>)>,
}

/// Asks cargo.
pub fn read(workspace: &Workspace) -> Result<Metadata> {
    let mut metadata = cargo(&workspace.root);
    let text = output(metadata.args(["metadata", "--locked", "--format-version", "1"]))?;
    let value: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
    Ok(parse(&value))
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn parse(value: &Value) -> Metadata {
    let mut metadata = Metadata::default();
    let members: BTreeSet<&str> = list(value, "workspace_members").iter().filter_map(Value::as_str).collect();
    let mut names = BTreeMap::new();
    for package in list(value, "packages") {
        let id = text(package, "id");
        names.insert(id.clone(), text(package, "name"));
        if members.contains(id.as_str()) {
            metadata.members.insert(text(package, "name"), member(package));
        }
    }
    let nodes = value.get("resolve").map_or(&[][..], |resolve| list(resolve, "nodes"));
    for node in nodes {
        let id = text(node, "id");
        let built_of = list(node, "deps").iter().filter(|dependency| {
            list(dependency, "dep_kinds").iter().any(|kind| text(kind, "kind") != "dev")
        });
        let built_of = built_of.map(|dependency| text(dependency, "pkg")).collect();
        let name = names.get(&id).cloned().unwrap_or_default();
        metadata.graph.insert(id, (name, built_of));
    }
    metadata
}

fn member(package: &Value) -> Member {
    let dependencies = list(package, "dependencies").iter().map(|dependency| Dependency {
        name: text(dependency, "name"),
        for_tests: text(dependency, "kind") == "dev",
        optional: dependency.get("optional").and_then(Value::as_bool).unwrap_or_default(),
        target: dependency.get("target").and_then(Value::as_str).map(str::to_owned),
    });
    let features =
        package.get("features").and_then(Value::as_object).into_iter().flatten().map(|(name, turns_on)| {
            let turns_on =
                turns_on.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            (name.clone(), turns_on.collect())
        });
    Member { dependencies: dependencies.collect(), features: features.collect() }
}

/// Finds dependencies that must not be.
pub fn check(metadata: &Metadata) -> Vec<Violation> {
    let mut found = directions(metadata);
    found.extend(below_domain(metadata));
    found.extend(engine_under_ssr(metadata));
    found.extend(frontend_under_wasm(metadata));
    found
}

fn manifest(name: &str) -> String {
    match name {
        "app" | "frontend" | "server" => format!("{name}/Cargo.toml"),
        _ => format!("crates/{name}/Cargo.toml"),
    }
}

/// Rule 2: who may depend on whom; and who may hold a database client.
fn directions(metadata: &Metadata) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, member) in &metadata.members {
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| known == name) else {
            found.push(Violation::of_file(
                manifest(name),
                "a crate that the rules do not know: add it to them",
            ));
            continue;
        };
        for dependency in &member.dependencies {
            let ours = metadata.members.contains_key(&dependency.name);
            let foreign_party = matches!(name.as_str(), "demo" | "xtask" | "frontend" | "domain");
            let for_tests = dependency.for_tests && !foreign_party && dependency.name == "testkit";
            if ours && !for_tests && !allowed.contains(&dependency.name.as_str()) {
                let what = format!("{name} may not depend on {}", dependency.name);
                found.push(Violation::of_file(manifest(name), what));
            }
            let holds_sql = matches!(name.as_str(), "engine" | "demo" | "testkit") || dependency.for_tests;
            if dependency.name == "sqlx" && !holds_sql {
                let what = format!("{name} may not depend on sqlx: SQL is the store's");
                found.push(Violation::of_file(manifest(name), what));
            }
        }
    }
    found
}

/// Rule 1: nothing below `domain` touches the world.
fn below_domain(metadata: &Metadata) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let domain = |(_, (name, _)): &(&String, &(String, Vec<String>))| name == "domain";
    let mut open: Vec<(String, String)> =
        metadata.graph.iter().filter(domain).map(|(id, _)| (id.clone(), "domain".to_owned())).collect();
    while let Some((id, way)) = open.pop() {
        let Some((name, built_of)) = metadata.graph.get(&id) else { continue };
        if !seen.insert(id) {
            continue;
        }
        if IMPURE.contains(&name.as_str()) {
            found.push(Violation::of_file(
                manifest("domain"),
                format!("domain is pure, and holds {name}: {way}"),
            ));
        }
        for next in built_of {
            let next_name = metadata.graph.get(next).map(|(name, _)| name.as_str()).unwrap_or_default();
            open.push((next.clone(), format!("{way} > {next_name}")));
        }
    }
    found
}

/// Rule 2: `app` holds the engine only under `ssr`.
fn engine_under_ssr(metadata: &Metadata) -> Vec<Violation> {
    let mut found = Vec::new();
    let Some(app) = metadata.members.get("app") else { return found };
    if app.dependencies.iter().any(|dependency| dependency.name == "engine" && !dependency.optional) {
        found.push(Violation::of_file(manifest("app"), "engine must be optional, under the feature ssr"));
    }
    for (feature, turns_on) in &app.features {
        let engine = turns_on.iter().any(|word| word == "dep:engine" || word.starts_with("engine/"));
        if engine && feature != "ssr" {
            let what = format!("the feature {feature} turns on engine: only ssr may");
            found.push(Violation::of_file(manifest("app"), what));
        }
    }
    found
}

/// The trap of `--workspace`: what `frontend` turns on in `app` must not reach the server's build.
fn frontend_under_wasm(metadata: &Metadata) -> Vec<Violation> {
    let Some(frontend) = metadata.members.get("frontend") else { return Vec::new() };
    let outside = frontend
        .dependencies
        .iter()
        .filter(|dependency| !dependency.target.as_deref().is_some_and(|target| target.contains("wasm32")));
    outside
        .map(|dependency| {
            let what = format!("{} must sit under cfg(target_arch = \"wasm32\")", dependency.name);
            Violation::of_file(manifest("frontend"), what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(name: &str) -> Dependency {
        Dependency { name: name.to_owned(), ..Dependency::default() }
    }

    fn world(members: &[(&str, Vec<Dependency>)]) -> Metadata {
        let member = |(name, dependencies): &(&str, Vec<Dependency>)| {
            ((*name).to_owned(), Member { dependencies: dependencies.clone(), features: BTreeMap::new() })
        };
        Metadata { members: members.iter().map(member).collect(), graph: BTreeMap::new() }
    }

    fn whats(metadata: &Metadata) -> Vec<String> {
        check(metadata).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_planted_direction_is_found() {
        let for_tests = Dependency { for_tests: true, ..on("testkit") };
        let metadata = world(&[
            ("domain", vec![on("engine"), on("serde")]),
            ("engine", vec![on("domain"), for_tests.clone(), on("sqlx")]),
            ("demo", vec![for_tests, on("sqlx")]),
            ("server", vec![on("sqlx")]),
            ("testkit", vec![]),
            ("newcomer", vec![]),
        ]);
        let expected = [
            "demo may not depend on testkit",
            "domain may not depend on engine",
            "a crate that the rules do not know: add it to them",
            "server may not depend on sqlx: SQL is the store's",
        ];
        assert_eq!(whats(&metadata), expected);
    }

    #[test]
    fn the_engine_outside_ssr_is_found() {
        let mut metadata = world(&[("app", vec![on("engine")]), ("engine", vec![])]);
        assert_eq!(whats(&metadata), ["engine must be optional, under the feature ssr"]);
        let app = metadata.members.get_mut("app").expect("app");
        app.dependencies[0].optional = true;
        app.features.insert("ssr".to_owned(), vec!["dep:engine".to_owned()]);
        assert!(whats(&metadata).is_empty());
        let app = metadata.members.get_mut("app").expect("app");
        app.features.insert("hydrate".to_owned(), vec!["engine/x".to_owned()]);
        assert_eq!(whats(&metadata), ["the feature hydrate turns on engine: only ssr may"]);
    }

    #[test]
    fn frontend_outside_wasm_is_found() {
        let wasm = Dependency { target: Some("cfg(target_arch = \"wasm32\")".to_owned()), ..on("app") };
        let metadata = world(&[("frontend", vec![wasm, on("leptos")]), ("app", vec![])]);
        assert_eq!(whats(&metadata), ["leptos must sit under cfg(target_arch = \"wasm32\")"]);
    }

    #[test]
    fn a_planted_crate_deep_below_domain_is_found() {
        let value = serde_json::json!({
            "workspace_members": ["d"],
            "packages": [
                {"id": "d", "name": "domain", "dependencies": [], "features": {}},
                {"id": "s", "name": "serde"}, {"id": "t", "name": "tokio"}, {"id": "r", "name": "rand"},
            ],
            "resolve": {"nodes": [
                {"id": "d", "deps": [
                    {"pkg": "s", "dep_kinds": [{"kind": null}]},
                    {"pkg": "r", "dep_kinds": [{"kind": "dev"}]},
                ]},
                {"id": "s", "deps": [{"pkg": "t", "dep_kinds": [{"kind": null}]}]},
                {"id": "t", "deps": []}, {"id": "r", "deps": []},
            ]},
        });
        assert_eq!(whats(&parse(&value)), ["domain is pure, and holds tokio: domain > serde > tokio"]);
    }
}
