//! The faults of the wire by name.

use crate::playable::playable;

playable! {
/// A fault of the wire.
pub enum Fault {
    /// The connection breaks before the request is taken.
    DropBefore = "drop_before",
    /// The request is taken, then the connection breaks.
    DropAfter = "drop_after",
    /// An HTTP status (`status`, `retry_after`) instead of taking the request: 5xx, 429, 401.
    StatusBefore = "status_before",
    /// The request is taken, then an HTTP status stands in for its answer.
    StatusAfter = "status_after",
    /// The request is taken, its answer waits until it is let go.
    HoldAnswer = "hold_answer",
    /// The connection breaks at once, and the request is taken `ms` later all the same.
    LandsLate = "lands_late",
    /// The request is taken only after `ms`, whether or not the client still waits.
    SlowRequest = "slow_request",
    /// The request is taken, its answer comes `ms` later.
    Slow = "slow",
    /// The request is not taken, and no answer comes (or a 504 after `ms`).
    HangBefore = "hang_before",
    /// The request is taken, and no answer comes (or a 504 after `ms`).
    Hang = "hang",
    /// A protocol error (`code`, with HTTP `status`) instead of taking the request.
    ErrorBefore = "error_before",
    /// The request is taken, then a protocol error (`code`, -32603 by default) answers it.
    ErrorAfter = "error_after",
    /// The operation is not supported: -32004, or -32601 by `code`.
    Unsupported = "unsupported",
    /// The task is said not to be there: -32001.
    NotFound = "not_found",
    /// A first message with a contextId is refused: -32602.
    RefusesContext = "refuses_context",
    /// The client's contextId is swapped for one of the agent's own.
    SwapsContext = "swaps_context",
    /// The connection breaks half way through the answer, or after `size` events.
    ResetMidAnswer = "reset_mid_answer",
    /// Half of the answer, ended as if it were whole.
    TruncatedJson = "truncated_json",
    /// The request is taken, a gateway's HTML page with status 200 answers it.
    Html = "html_200",
    /// The answer comes `size` bytes at a time, `ms` apart.
    Drip = "drip",
    /// Every status says `state` (TASK_STATE_PAUSED by default).
    WrongState = "wrong_state",
    /// Every contextId is somebody else's.
    ForeignContext = "foreign_context",
    /// Task ids have spaces, slashes, an emoji and `size` more letters.
    OddIds = "odd_ids",
    /// Every object has a field that nobody knows.
    UnknownFields = "unknown_fields",
    /// Null where a list is due.
    NullLists = "null_lists",
    /// Empty and zero values are left out.
    LeavesOutEmpty = "leaves_out_empty",
    /// Every number comes as text.
    NumbersAsStrings = "numbers_as_strings",
    /// The answer carries an artifact of `size` bytes (20 MB by default).
    HugeBody = "huge_body",
    /// The answer carries lists in lists, `size` deep (10,000 by default).
    DeepJson = "deep_json",
    /// Every task carries `size` more artifacts (100,000 by default).
    ManyArtifacts = "many_artifacts",
    /// The agent's clock is `seconds` ahead: Date header, timestamps, time filters.
    ClockSkew = "clock_skew",
    /// No status has a timestamp; a time filter then finds nothing.
    NoTimestamps = "no_timestamps",
    /// Timestamps come without a zone.
    NoZone = "timestamps_without_zone",
    /// Histories are cut to the newest `size` messages (1 by default).
    CutHistory = "cut_history",
    /// Histories are left out.
    NoHistory = "no_history",
    /// Histories have no messages of the client.
    NoUserHistory = "history_without_user",
    /// Pages of the list have `size` tasks (1 by default).
    SmallPages = "small_pages",
    /// The list's page tokens go round in a circle.
    CircularTokens = "circular_tokens",
    /// The list gives the same page token for ever, with empty pages after the first.
    RepeatedToken = "repeated_token",
    /// The list gives ever new page tokens, with empty pages after the first.
    EndlessTokens = "endless_tokens",
    /// The list gives a full page of `size` tasks (1 by default) and no token.
    FullPageNoToken = "full_page_without_token",
    /// The list shows every task twice, the second time as WORKING.
    DuplicateTasks = "duplicate_tasks",
    /// The list ignores every filter.
    Unfiltered = "unfiltered",
    /// The list's statusTimestampAfter leaves out the moment itself.
    ExclusiveAfter = "exclusive_after",
    /// The list shows a task only `ms` after it was made.
    ListLag = "list_lag",
    /// Every event of the stream comes twice.
    DuplicateEvents = "duplicate_events",
    /// Events after the first come in swapped pairs.
    ReorderedEvents = "reordered_events",
    /// The stream opens and says nothing after `size` events (0), for ever or until `ms`.
    QuietStream = "quiet_stream",
    /// The stream ends well after `size` events: 1, the snapshot, by default.
    StreamEndsEarly = "stream_ends_early",
    /// The stream stays open after its last event, for ever or until `ms`.
    StreamStaysOpen = "stream_stays_open",
    /// The stream has one frame, a protocol error (`code`), and ends.
    StreamError = "stream_error",
    /// The stream lacks its snapshot.
    NoSnapshot = "no_snapshot",
    /// A stream that said the last word says WORKING after it.
    Revives = "revives_in_stream",
    /// After each event comes one of a kind that nobody knows.
    UnknownEvent = "unknown_event",
    /// After the first event comes one whose data is not JSON.
    JunkEvent = "junk_event",
    /// Event lines end with CR LF.
    SseCrlf = "sse_crlf",
    /// Event lines end with CR.
    SseCr = "sse_cr",
    /// The stream begins with a byte order mark.
    SseBom = "sse_bom",
    /// Comments between and within events.
    SseComments = "sse_comments",
    /// The JSON of an event over several data lines.
    SseMultiLine = "sse_multi_line",
    /// No space after `data:`.
    SseNoSpace = "sse_no_space",
    /// Events with `event:`, `id:`, `retry:` and a field that nobody knows.
    SseFields = "sse_fields",
    /// The last event lacks its blank line.
    SseNoFinalBlank = "sse_no_final_blank",
    /// Events come byte by byte: line ends and characters are split over reads.
    SseBytewise = "sse_bytewise",
}
}

impl Fault {
    /// The operation that it is meant for where none is named.
    pub fn home(self) -> &'static str {
        match self {
            _ if self.is_of_list() => "ListTasks",
            _ if self.is_of_stream() => "stream",
            Self::RefusesContext | Self::SwapsContext => "send",
            Self::Unsupported => "ListTasks",
            Self::NotFound => "GetTask",
            Self::WrongState
            | Self::ForeignContext
            | Self::OddIds
            | Self::UnknownFields
            | Self::NullLists
            | Self::LeavesOutEmpty
            | Self::NumbersAsStrings
            | Self::HugeBody
            | Self::DeepJson
            | Self::ManyArtifacts
            | Self::ClockSkew
            | Self::NoTimestamps
            | Self::NoZone
            | Self::CutHistory
            | Self::NoHistory
            | Self::NoUserHistory => "*",
            _ => "SendMessage",
        }
    }

    /// Whether it is a fault of lists only.
    pub fn is_of_list(self) -> bool {
        matches!(
            self,
            Self::SmallPages
                | Self::CircularTokens
                | Self::RepeatedToken
                | Self::EndlessTokens
                | Self::FullPageNoToken
                | Self::DuplicateTasks
                | Self::Unfiltered
                | Self::ExclusiveAfter
                | Self::ListLag
        )
    }

    /// Whether it is a fault of streams only.
    pub fn is_of_stream(self) -> bool {
        matches!(
            self,
            Self::DuplicateEvents
                | Self::ReorderedEvents
                | Self::QuietStream
                | Self::StreamEndsEarly
                | Self::StreamStaysOpen
                | Self::StreamError
                | Self::NoSnapshot
                | Self::Revives
                | Self::UnknownEvent
                | Self::JunkEvent
        ) || self.is_of_framing()
    }

    fn is_of_framing(self) -> bool {
        matches!(
            self,
            Self::SseCrlf
                | Self::SseCr
                | Self::SseBom
                | Self::SseComments
                | Self::SseMultiLine
                | Self::SseNoSpace
                | Self::SseFields
                | Self::SseNoFinalBlank
                | Self::SseBytewise
        )
    }

    /// Whether a soak draws it unless told otherwise: not those that break what the agents are
    /// vouched for, that need somebody to end them, or that are a lasting trait of an agent.
    pub fn is_seeded(self) -> bool {
        !matches!(
            self,
            Self::HoldAnswer
                | Self::HangBefore
                | Self::Unsupported
                | Self::RefusesContext
                | Self::SwapsContext
                | Self::ForeignContext
                | Self::OddIds
                | Self::HugeBody
                | Self::DeepJson
                | Self::ManyArtifacts
                | Self::ClockSkew
                | Self::NoZone
                | Self::EndlessTokens
                | Self::ErrorBefore
        )
    }
}
