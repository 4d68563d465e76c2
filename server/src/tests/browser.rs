//! What a person at a browser meets.

use super::*;

#[tokio::test]
async fn a_stranger_is_led_to_the_sign_in_page_and_back() {
    let world = world().await;
    let answer = world.get("/trips/new?from=Oslo", "").await;
    assert_eq!(
        (answer.status, answer.location()),
        (StatusCode::SEE_OTHER, "/login?next=/trips/new%3Ffrom%3DOslo")
    );
    assert_eq!(world.get("/", "").await.location(), "/login");
    assert_eq!(world.get("/trips/x/live", "").await.status, StatusCode::UNAUTHORIZED);
    let pairs = [("email", "a@example.org"), ("password", PASSWORD), ("next", "/trips/new")];
    let answer = world.post("/login", "", &pairs).await;
    assert_eq!(answer.location(), "/trips/new");
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let pairs = [("email", "a@example.org"), ("password", PASSWORD), ("next", "//evil.example")];
    assert_eq!(world.post("/login", "", &pairs).await.location(), "/trips");
}

#[tokio::test]
async fn a_wrong_password_keeps_the_email_and_not_the_password() {
    let world = world().await;
    let answer = world.post("/login", "", &[("email", "a@example.org"), ("password", "guess-4711")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text.contains("a@example.org") && !answer.text.contains("guess-4711"));
    assert!(answer.text.contains("do not belong together"));
}

#[tokio::test]
async fn a_session_planted_before_the_sign_in_is_not_taken_over() {
    let world = world().await;
    let first = world.sign_in("a").await;
    let again = world.post("/login", &first, &[("email", "b@example.org"), ("password", PASSWORD)]).await;
    let second = again.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(!second.starts_with(&first));
    assert_eq!(world.get("/trips", &first).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn every_answer_is_protected() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    for (path, cookie) in
        [("/trips", cookie.as_str()), ("/login", ""), ("/healthz", ""), ("/api/v1/trips", "")]
    {
        let answer = world.get(path, cookie).await;
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin");
        let policy = header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
        assert!(answer.headers.contains_key("x-request-id"));
    }
    let policy =
        world.get("/trips", &cookie).await.headers["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("script-src 'nonce-") && policy.contains("'strict-dynamic'"), "{policy}");
}

#[tokio::test]
async fn nothing_is_changed_from_another_site() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let trip = world.trip(&cookie).await;
    let foreign: [&[(&str, &str)]; 4] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "http://a.localhost")],
        &[("origin", "https://evil.example"), ("host", "localhost")],
        &[],
    ];
    for path in [
        format!("{trip}/cancel"),
        "/trips/new".into(),
        "/logout".into(),
        "/login".into(),
        "/read/trips".into(),
    ] {
        for headers in foreign {
            let mut request = Request::post(&path)
                .header(header::COOKIE, &cookie)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let answer = world.send(request.body(form(&NEW_TRIP).into()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
    for path in [format!("{trip}/cancel"), "/logout".into()] {
        world.get(&path, &cookie).await;
    }
    let page = world.get(&trip, &cookie).await;
    assert_eq!(page.status, StatusCode::OK, "still signed in");
}

#[tokio::test]
async fn a_form_sent_twice_is_one_trip() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let mut pairs = NEW_TRIP.to_vec();
    pairs.push(("idempotency_key", "k-1"));
    let first = world.post("/trips/new", &cookie, &pairs).await;
    let second = world.post("/trips/new", &cookie, &pairs).await;
    assert_eq!((first.status, second.status), (StatusCode::SEE_OTHER, StatusCode::SEE_OTHER));
    assert_eq!(first.location(), second.location());
    pairs[1].1 = "Another title";
    let other = world.post("/trips/new", &cookie, &pairs).await;
    assert_eq!(other.status, StatusCode::CONFLICT);
    assert!(other.text.contains("Another title") && !other.text.contains("value=\"k-1\""));
}

#[tokio::test]
async fn too_much_text_is_refused_beside_the_field_or_as_a_whole() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let notes = "<b>é".repeat(20_000);
    let mut pairs = NEW_TRIP.to_vec();
    pairs.push(("notes", &notes));
    let answer = world.post("/trips/new", &cookie, &pairs).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer.text.contains("Bergen") && answer.text.contains("&lt;b&gt;é") && !answer.text.contains("<b>é")
    );
    let notes = "x".repeat(600_000);
    pairs.pop();
    pairs.push(("notes", &notes));
    let answer = world.post("/trips/new", &cookie, &pairs).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.text.contains("too much text"));
}

#[tokio::test]
async fn somebody_elses_trip_is_not_there() {
    let world = world().await;
    let trip = world.trip(&world.sign_in("a").await).await;
    let cookie = world.sign_in("b").await;
    for path in [
        trip.clone(),
        "/trips/unknown".into(),
        format!("{trip}/cancel"),
        format!("{trip}/live"),
        "/nowhere".into(),
    ] {
        assert_eq!(world.get(&path, &cookie).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    for path in [format!("{trip}/cancel"), format!("{trip}/questions/x"), "/nowhere".into()] {
        let answer = world.post(&path, &cookie, &[("answer", "x")]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.text.contains("b@example.org"), "with the person's menu");
    }
}

#[tokio::test]
async fn a_cancel_pressed_twice_says_so() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let trip = world.trip(&cookie).await;
    for sentence in ["Your cancellation is recorded", "nothing changed"] {
        let answer = world.post(&format!("{trip}/cancel"), &cookie, &[("confirm", "yes")]).await;
        assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, trip.as_str()));
        assert!(world.get(&trip, &cookie).await.text.contains(sentence));
        assert!(!world.get(&trip, &cookie).await.text.contains(sentence), "said once");
    }
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    assert_eq!(world.post("/logout", &cookie, &[]).await.location(), "/login");
    assert_eq!(world.get("/trips", &cookie).await.location(), "/login");
}
