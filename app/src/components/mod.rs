//! What several pages share.

pub mod case_words;
pub mod decode;
pub mod erased;
pub mod field;
pub mod history;
pub mod instant;
pub mod itinerary;
pub mod layout;
pub mod live_stream;
pub mod live_trip;
pub mod loaded;
pub mod money_table;
pub mod outside;
pub mod page_title;
pub mod question_card;
pub mod technical;
pub mod text_area;
pub mod trip_body;
pub mod undo_ladder;
pub mod words;
