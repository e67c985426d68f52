//! Events → token changes. Knows no files, no terminal, no YAML.
