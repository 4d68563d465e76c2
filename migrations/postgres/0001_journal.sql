-- The journal: every table of the first version.

CREATE TABLE users (
    id            TEXT PRIMARY KEY,
    email         TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('traveller', 'support', 'admin')),
    disabled_at   BIGINT,
    created_at    BIGINT NOT NULL
);

CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    data       TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE tokens (
    hash       TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL REFERENCES users (id),
    role       TEXT NOT NULL CHECK (role IN ('traveller', 'support', 'admin')),
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE holders (
    id              TEXT PRIMARY KEY,
    started_at      BIGINT NOT NULL,
    heartbeat_until BIGINT NOT NULL
);

CREATE TABLE agents (
    id                    TEXT PRIMARY KEY,
    name                  TEXT NOT NULL,
    card_url              TEXT NOT NULL UNIQUE,
    endpoint              TEXT NOT NULL,
    card                  TEXT NOT NULL,
    card_version          TEXT NOT NULL,
    streaming             BIGINT NOT NULL,
    principal             TEXT NOT NULL,
    state                 TEXT NOT NULL CHECK (state IN ('enabled', 'draining', 'disabled')),
    preference            BIGINT NOT NULL,
    cost                  BIGINT NOT NULL,
    failures              BIGINT NOT NULL DEFAULT 0,
    landing_grace_seconds BIGINT,
    vouched               TEXT NOT NULL,
    vouched_by            TEXT NOT NULL,
    vouched_at            BIGINT NOT NULL,
    created_at            BIGINT NOT NULL
);

CREATE TABLE agent_skills (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    theirs   TEXT NOT NULL,
    ours     TEXT NOT NULL,
    PRIMARY KEY (agent_id, ours)
);

CREATE TABLE agent_facts (
    agent_id     TEXT NOT NULL REFERENCES agents (id),
    card_version TEXT NOT NULL,
    skill        TEXT NOT NULL,
    fact         TEXT NOT NULL,
    holds        BIGINT NOT NULL,
    source       TEXT NOT NULL,
    learned_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    PRIMARY KEY (agent_id, card_version, skill, fact)
);

CREATE TABLE credentials (
    id         TEXT PRIMARY KEY,
    owner_kind TEXT NOT NULL CHECK (owner_kind IN ('agent', 'booking_system')),
    owner_id   TEXT NOT NULL,
    sealed     TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (owner_kind, owner_id)
);

CREATE TABLE booking_systems (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE workflows (
    name       TEXT NOT NULL,
    version    BIGINT NOT NULL,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE TABLE trips (
    id               TEXT PRIMARY KEY,
    owner_id         TEXT NOT NULL REFERENCES users (id),
    title            TEXT NOT NULL,
    workflow         TEXT NOT NULL,
    workflow_version BIGINT NOT NULL,
    inputs           TEXT NOT NULL,
    goal             TEXT NOT NULL CHECK (goal IN ('run', 'cancel', 'compensate')),
    created_at       BIGINT NOT NULL,
    closed_at        BIGINT,
    closed           TEXT CHECK (closed IN ('done', 'cancelled', 'failed')),
    seq              BIGINT NOT NULL,
    fence            BIGINT NOT NULL DEFAULT 0,
    wakes            BIGINT NOT NULL DEFAULT 0,
    holder           TEXT,
    due_at           BIGINT NOT NULL,
    resting          BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (workflow, workflow_version) REFERENCES workflows (name, version),
    CHECK ((closed_at IS NULL) = (closed IS NULL)),
    CHECK (resting = 0 OR closed_at IS NOT NULL)
);
CREATE INDEX trips_due ON trips (due_at) WHERE resting = 0;
CREATE INDEX trips_held ON trips (holder) WHERE holder IS NOT NULL;
CREATE INDEX trips_of_owner ON trips (owner_id, created_at);

CREATE TABLE steps (
    trip_id        TEXT NOT NULL REFERENCES trips (id),
    name           TEXT NOT NULL,
    position       BIGINT NOT NULL,
    standing       TEXT NOT NULL CHECK (standing IN ('open', 'done', 'skipped', 'failed')),
    attempt_budget BIGINT NOT NULL,
    not_before     BIGINT,
    PRIMARY KEY (trip_id, name)
);

CREATE TABLE delegations (
    id                   TEXT PRIMARY KEY,
    trip_id              TEXT NOT NULL,
    step                 TEXT NOT NULL,
    purpose              TEXT NOT NULL CHECK (purpose IN ('step', 'undo')),
    agent_id             TEXT NOT NULL REFERENCES agents (id),
    principal            TEXT NOT NULL,
    ordinal              BIGINT NOT NULL CHECK (ordinal >= 1),
    message_id           TEXT NOT NULL UNIQUE,
    context_id           TEXT,
    reference            TEXT UNIQUE,
    previous             TEXT REFERENCES delegations (id),
    created_at           BIGINT NOT NULL,
    task_id              TEXT,
    remote_state         TEXT,
    status_timestamp     BIGINT,
    observed_at          BIGINT,
    changed_at           BIGINT,
    ended                TEXT,
    ended_at             BIGINT,
    claim                TEXT,
    claimed_confirmation TEXT,
    outcome              TEXT,
    closed_at            BIGINT,
    failure_summary      TEXT,
    stuck                TEXT,
    stuck_since          BIGINT,
    signed               TEXT,
    called_off           BIGINT NOT NULL,
    doubt                TEXT NOT NULL,
    read_health          TEXT NOT NULL,
    FOREIGN KEY (trip_id, step) REFERENCES steps (trip_id, name),
    UNIQUE (trip_id, step, purpose, ordinal),
    CHECK ((outcome IS NULL) = (closed_at IS NULL))
);
CREATE UNIQUE INDEX one_open_delegation ON delegations (trip_id, step, purpose) WHERE outcome IS NULL;
CREATE INDEX delegations_of_task ON delegations (agent_id, task_id);
CREATE INDEX delegations_stuck ON delegations (stuck_since) WHERE stuck IS NOT NULL;

CREATE TABLE messages (
    id             TEXT PRIMARY KEY,
    trip_id        TEXT NOT NULL REFERENCES trips (id),
    delegation_id  TEXT NOT NULL REFERENCES delegations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('request', 'reply', 'cancel')),
    message_id     TEXT UNIQUE,
    body           TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('not_sent', 'intent', 'in_doubt', 'landed', 'refused')),
    send_number    BIGINT NOT NULL,
    may_send_until BIGINT,
    task_id        TEXT,
    question_id    TEXT,
    created_at     BIGINT NOT NULL,
    retry_at       BIGINT,
    setbacks       BIGINT NOT NULL,
    note           TEXT,
    CHECK (state NOT IN ('intent', 'in_doubt') OR (send_number >= 1 AND may_send_until IS NOT NULL)),
    CHECK ((kind = 'cancel') = (message_id IS NULL)),
    CHECK ((kind = 'cancel') = (task_id IS NOT NULL))
);
CREATE UNIQUE INDEX one_request ON messages (delegation_id) WHERE kind = 'request';
CREATE UNIQUE INDEX one_cancel ON messages (delegation_id, task_id) WHERE kind = 'cancel';
CREATE UNIQUE INDEX one_reply ON messages (question_id) WHERE kind = 'reply';
CREATE INDEX messages_of_trip ON messages (trip_id);

CREATE TABLE tasks (
    trip_id       TEXT NOT NULL REFERENCES trips (id),
    delegation_id TEXT NOT NULL REFERENCES delegations (id),
    task_id       TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('kept', 'ghost', 'fork')),
    snapshot      TEXT NOT NULL,
    observed_at   BIGINT NOT NULL,
    PRIMARY KEY (delegation_id, task_id)
);
CREATE UNIQUE INDEX one_kept_task ON tasks (delegation_id) WHERE role = 'kept';
CREATE INDEX tasks_of_trip ON tasks (trip_id);

CREATE TABLE artifacts (
    trip_id       TEXT NOT NULL REFERENCES trips (id),
    delegation_id TEXT NOT NULL REFERENCES delegations (id),
    task_id       TEXT NOT NULL,
    artifact_id   TEXT NOT NULL,
    content       TEXT NOT NULL,
    observed_at   BIGINT NOT NULL,
    UNIQUE (delegation_id, task_id, artifact_id)
);

CREATE TABLE questions (
    id            TEXT PRIMARY KEY,
    trip_id       TEXT NOT NULL,
    step          TEXT NOT NULL,
    delegation_id TEXT REFERENCES delegations (id),
    kind          TEXT NOT NULL CHECK (kind IN ('input', 'auth', 'decision')),
    question_key  TEXT NOT NULL,
    text          TEXT NOT NULL,
    link          TEXT,
    choices       TEXT NOT NULL,
    message       TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('open', 'answered', 'withdrawn', 'expired')),
    asked_at      BIGINT NOT NULL,
    deadline      BIGINT,
    answer        TEXT,
    answered_by   TEXT,
    answered_at   BIGINT,
    left_at       BIGINT,
    note          TEXT,
    FOREIGN KEY (trip_id, step) REFERENCES steps (trip_id, name),
    CHECK (state <> 'answered' OR (answer IS NOT NULL AND answered_by IS NOT NULL AND answered_at IS NOT NULL))
);
CREATE UNIQUE INDEX one_open_question ON questions (delegation_id) WHERE state = 'open';
CREATE UNIQUE INDEX one_open_decision ON questions (trip_id, step) WHERE state = 'open' AND kind = 'decision';
CREATE INDEX questions_of_trip ON questions (trip_id);
CREATE INDEX questions_open ON questions (asked_at) WHERE state = 'open';

CREATE TABLE effects (
    id             TEXT PRIMARY KEY,
    trip_id        TEXT NOT NULL REFERENCES trips (id),
    delegation_id  TEXT NOT NULL REFERENCES delegations (id),
    reference      TEXT NOT NULL,
    ghost          BIGINT NOT NULL,
    booking_system TEXT,
    confirmation   TEXT,
    verdict        TEXT NOT NULL CHECK (verdict IN ('expected', 'present', 'absent', 'settled_absent', 'unknown', 'undone')),
    present_first  BIGINT,
    present_last   BIGINT,
    absent_first   BIGINT,
    absent_last    BIGINT,
    unknown_since  BIGINT,
    note           TEXT,
    checked_at     BIGINT,
    unknown_reads  BIGINT NOT NULL,
    verified_at    BIGINT,
    price          TEXT,
    fee            TEXT
);
CREATE UNIQUE INDEX one_wanted_effect ON effects (delegation_id) WHERE ghost = 0;
CREATE INDEX effects_of_trip ON effects (trip_id);

CREATE TABLE compensations (
    id              TEXT PRIMARY KEY,
    trip_id         TEXT NOT NULL REFERENCES trips (id),
    effect_id       TEXT NOT NULL UNIQUE REFERENCES effects (id),
    step            TEXT NOT NULL,
    rung            BIGINT NOT NULL,
    booking_system  TEXT NOT NULL,
    confirmation    TEXT NOT NULL,
    idempotency_key TEXT NOT NULL UNIQUE,
    body            TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('planned', 'requested', 'accepted', 'verified', 'stuck', 'signed')),
    send_number     BIGINT NOT NULL,
    may_send_until  BIGINT,
    planned_at      BIGINT NOT NULL,
    requested_at    BIGINT,
    accepted_at     BIGINT,
    verified_at     BIGINT,
    retry_at        BIGINT,
    reason          TEXT,
    stuck_since     BIGINT,
    UNIQUE (trip_id, rung),
    CHECK (state NOT IN ('requested', 'accepted') OR (send_number >= 1 AND requested_at IS NOT NULL))
);
CREATE INDEX compensations_stuck ON compensations (stuck_since) WHERE state = 'stuck';

CREATE TABLE reads (
    trip_id  TEXT NOT NULL REFERENCES trips (id),
    subject  TEXT NOT NULL,
    kind     TEXT NOT NULL,
    digest   TEXT NOT NULL,
    content  TEXT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at  BIGINT NOT NULL,
    times    BIGINT NOT NULL,
    PRIMARY KEY (trip_id, subject, kind, digest)
);

CREATE TABLE events (
    trip_id       TEXT NOT NULL REFERENCES trips (id),
    seq           BIGINT NOT NULL,
    at            BIGINT NOT NULL,
    actor         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    step          TEXT,
    delegation_id TEXT,
    what          TEXT NOT NULL,
    why           TEXT,
    PRIMARY KEY (trip_id, seq)
);

CREATE TABLE idempotency_keys (
    user_id    TEXT NOT NULL REFERENCES users (id),
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    trip_id    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE TABLE audit (
    id     TEXT PRIMARY KEY,
    at     BIGINT NOT NULL,
    actor  TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- Events are append-only.
CREATE FUNCTION refuse_event_change() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_event_change();
