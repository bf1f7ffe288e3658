// Package memory is what agents know: items of warm memory (L2), the groups that share them, and
// search.
//
// It reads in this order: warm_item.go and warm_data.go
// (what an item is), warm_draft.go and warm_write.go (how one comes to be), warm_taint.go and
// warm_release.go (whose words they are, and whether they may instruct), warm_relate.go and
// warm_near.go (how it relates to other items), warm_successor.go (which item takes its place),
// then change, read, share, delete, and quarantine.go (hiding an author). group*.go are the
// groups and what leaves with a member, invitation.go asks for consent, binding.go the groups
// that folders stand for. search*.go find items by words, search_meaning.go by meaning if there
// is a model; lesson*.go keep what tasks taught; record*.go read what an export holds and take
// what an import brings. All SQL is in sql*.go.
//
// Five rooms are below: memory/text cuts texts into words, memory/rank orders the items that a
// search found, memory/canonical gives JSON its one form, all three pure; memory/hot is the
// context that each entity has (L1); memory/embedding keeps the vectors of items. One is above:
// memory/archive writes and reads the files of exports.
//
// Only its owner changes the text of an item, also in a group: others supersede it with a new
// item, so nothing forged can come home from a group. The store refuses a change of private
// rows by another entity.
//
// Invariants:
//   - INV-PROVENANCE: where a version comes from is written by the node, once.
//   - INV-TAINT: what a session writes after it was shown second-hand words, what is
//     derived from such, and what an agent makes of an item of such, is kept as
//     external, whatever its writer says.
//   - INV-IMPORT: an imported record keeps its author, provenance, confidence and place only if
//     this node or the person above the importer signed it exactly so; every other is external,
//     for any importer, and what instructs in it waits for release.
//   - INV-LINEAGE: a derived item is at most as reliable as the least of its sources.
//   - INV-NO-ORACLE: no answer (status of a write, count, near miss, cursor,
//     order, error) depends on what its reader may not see; what is hidden and
//     what is absent read the same and cost the same queries.
//   - INV-QUARANTINE: below confidence 0.3 nothing is surfaced or shared until it is
//     validated, in a group not by its author alone; archives never are.
//   - INV-RELEASE: what instructs (procedures, constraints, templates) is surfaced
//     and shared only after a person released these words, or when it names known
//     tools alone and two agents of different lineage, Medium or better, wrote the
//     same normalised words. Words that are only near to others, or that a person held
//     back, count for nothing, and a release ends when the words change.
//   - INV-SUCCESSION: an item is superseded while its successor is effective, which its
//     author, an owner or admin of its group, or a person let take its place; a person alone
//     does so with what a person wrote or released, and with what took the place of that.
//   - INV-LESSON: a lesson counts for a plan while its words are those the node wrote from
//     the verdicts of a task, or if a person released them; no tool writes such words. It
//     forbids an approach by a person's release alone.
//   - INV-WITHHELD: while an agent, or the one in whose session it is a sub-agent, holds
//     a lease of R1, R3 or R4a, no answer gives it the words of a lesson, or is shorter for one.
//   - INV-HIDDEN: what a quarantined agent and those below it wrote, and what was derived
//     from it, shows in no search, link, comparison or report of a swarm in the places of
//     who decided so; lifting that shows exactly the same again.
//   - INV-CONSENT: an entity becomes a member of a group by itself, by one above it, or once
//     its parent or the person accepted; until then nothing of the group reaches it.
//
// It refuses provenance from callers, changes of copies, merging in silence, and searches that
// would have to look at what others own. Text in items is data: each face escapes it.
package memory
