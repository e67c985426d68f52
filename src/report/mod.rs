//! Tables, CSV files and charts from [`crate::observe::results`]. Knows no events.
