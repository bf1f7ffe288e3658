-- Whether a person held words back is asked with each instruction that an agent writes.
CREATE INDEX releases_held ON releases(by, content_hash) WHERE released = 0;
