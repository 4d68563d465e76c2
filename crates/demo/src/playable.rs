//! What can be played: enums whose variants have a name in JSON and one sentence for people, both
//! written once.

/// Makes an enum of things to play; a variant's documentation is what people read of it.
macro_rules! playable {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[doc = $text:literal])+ $variant:ident = $json:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[doc = $text])+ #[serde(rename = $json)] $variant, )+
        }

        impl $name {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name used in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $json,)+ }
            }

            /// What it does, in one sentence.
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($text),+).trim_ascii_start(),)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use playable;
