raise SystemExit("not yet")
