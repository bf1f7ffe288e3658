-- A hint names an agent by its name where no other has that: those of a name are found without reading all.
CREATE INDEX entities_named ON entities(name) WHERE status <> 'removed';
