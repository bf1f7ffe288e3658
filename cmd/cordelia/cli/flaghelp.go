package cli

import "cordelia/schemas"

// flagHelp says what an argument is for where its operation does not: a person who
// reads --help pays nothing for the words, a model would with every call.
func flagHelp(op, arg string) string {
	if text := ownHelp(op + " " + arg); text != "" {
		return text
	}
	return commonHelp(arg)
}

// commonHelp is of arguments that mean the same wherever they are.
func commonHelp(arg string) string {
	switch arg {
	case "agent":
		return "the agent: name, id, or the first 8 or more characters of it"
	case "bonus_groups":
		return "a group that counts while the agent's accuracy is rated high"
	case "cursor":
		return "where to go on: the cursor of the page before"
	case "group":
		return "the group's id"
	case "groups":
		return "a group the agent is approved for"
	case "idempotency_key":
		return "repeating the command with the same `key` changes nothing again"
	case "limit":
		return "how many at most"
	case "private":
		return "what it may do with your private memory"
	case "reason":
		return "why, for the record"
	case "subscriptions":
		return `what it hears: [{"event", "group"}]`
	case "summary":
		return "what was done, in a few sentences"
	}
	return ""
}

// ownHelp is of arguments of one operation, by both their names.
func ownHelp(arg string) string {
	for _, list := range []map[string]string{agentHelp(), memoryHelp(), taskHelp(), swarmHelp(),
		roleHelp()} {
		if text := list[arg]; text != "" {
			return text
		}
	}
	return ""
}

func agentHelp() map[string]string {
	return map[string]string{
		"agent_register agent_type":       "what it is; decides what it may do with memory by default",
		"agent_register display_name":     "a name for people, up to 200 bytes; without it the name",
		"agent_register name":             "a short name of a-z, 0-9 and -; without it made of the display name",
		"agent_register own_key":          "a key the agent made itself, with proof that it holds it",
		"agent_capabilities groups":       "a group the agent is approved for; those given replace the present ones",
		"agent_capabilities bonus_groups": "a group that counts at a high rating; those given replace the present ones",
		"agent_list include_ended":        "those that were deactivated or removed, too",
		"agent_list status":               "only those of this status",
		"events_poll peek":                "only look: acknowledge nothing",
		"trust_assess basis":              "the id of an item that the verdict rests on",
		"trust_assess relayed":            "the verdict is the user's, passed on by an agent; counts half",
		"trust_assess agent":              "with --capability and --feedback: whose work it is about",
		"trust_assess capability":         "a seat, as executor, or a class of tools, as shell",
		"trust_assess feedback":           "how well it went",
		"reintegrate session_count":       "how many sessions the agent has had",
		"reintegrate chain_hash":          "the hash of its last session, in hex",
		"reintegrate memories":            `what it brings: [{"type", "data", "group"}]`,
	}
}

func memoryHelp() map[string]string {
	return map[string]string{
		"memory_search author":           "only what this agent or person wrote: name or id",
		"memory_search group":            "only what is in this group",
		"memory_search tags":             "only what carries this tag",
		"memory_search type":             "only items of this type",
		"memory_search since":            "not older than this: " + schemas.DateForms,
		"memory_search until":            "not newer than this time",
		"memory_search detail":           "lines, or whole items",
		"memory_read_warm version":       "an earlier version of it, by its number",
		"memory_read_warm history":       "what changed from version to version",
		"memory_write_warm type":         "what it is",
		"memory_write_warm id":           "change this item of yours",
		"memory_write_warm if_version":   "refuse if the item is no longer at this version",
		"memory_write_warm group":        "put it into this group, for its members",
		"memory_write_warm visibility":   "who may read it; without it yours alone, or the group's",
		"memory_write_warm key":          "with --subject: which property this states, as port",
		"memory_write_warm supersedes":   "the id of the item that this replaces, of another's once that is decided",
		"memory_write_warm valid_from":   "true from then on: " + schemas.DateForms,
		"memory_write_warm valid_to":     "true until this time",
		"memory_write_warm validated":    "you have checked it, so it shows however low its confidence",
		"memory_write_warm ttl_seconds":  "forget it after so many seconds",
		"memory_write_warm derived_from": "the id of an item this was made of; it is no more reliable than that",
		"memory_write_warm source":       "where its words come from, if not from its writer",
		"memory_delete_warm mode":        "what to do; purge cannot be undone",
		"memory_group role": "what the member may do: own, manage, write or only read; else write, or as " +
			"before",
		"memory_group description": "what the group is for, in a sentence",
		"memory_group culture": `how it works together: {"broadcast_eagerness", "notification_policy", ` +
			`"departure_policy", "ttl_default"}`,
		"memory_group emcon":          "nothing is written to the group while this is on",
		"memory_session focus":        "what the session is about",
		"memory_session open_threads": "something left open",
	}
}

func taskHelp() map[string]string {
	return map[string]string{
		"task_claim role":            "only work of this role",
		"task_claim group":           "only work of this group",
		"task_claim swarm":           "only work of this swarm",
		"task_claim wait_seconds":    "wait so long for work, up to 50",
		"task_report fence":          "the number that came with the lease",
		"task_report evidence":       `what shows it: [{"tool", "input", "exit", "head", "tail"}]`,
		"task_report note":           "a word for the next holder, or why it failed",
		"task_report claim_next":     "take the next item at once",
		"task_status group":          "only work of this group",
		"task_status state":          "only work in this state",
		"task_status detail":         "with plan, briefs, results and evidence whole",
		"task_status task_id":        "only work of this task",
		"task_status wait_seconds":   "wait so long for its end, up to 50",
		"task_submit request":        "what is wanted, in the user's words: a task for the pipeline",
		"task_submit group":          "whose members may take it; without it your agents",
		"task_submit budget_seconds": "how long the work itself may take",
		"task_submit replans":        "how often a failed plan may be made anew",
		"task_submit within_seconds": "give up after so many seconds",
		"task_submit task_id":        "answer the questions of this task",
		"task_submit items":          "several items of work at once, as below",
		"review_list ids":            "these alone, whole",
	}
}

func swarmHelp() map[string]string {
	return map[string]string{
		"swarm_create swarm_id":             "the id of its group; without it made of the goal and the day",
		"swarm_create strategy":             "how they work together",
		"swarm_create coordinator_slot":     "the slot of the agent that coordinates",
		"swarm_create coordinator_agent_id": "an agent there is already, yours, that coordinates",
		"swarm_create agents":               `who: [{"slot", "count", "agent_type", "capabilities", "work"}]`,
		"swarm_create culture": `how they work together: {"broadcast_eagerness", "notification_policy", ` +
			`"departure_policy", "ttl_default"}`,
		"swarm_create dry_run":         "only show what would be made, and what refused",
		"swarm_status detail":          "with ids",
		"swarm_disband synthesis_item": "end it only if this item derives from every finding",
		"swarm_disband share":          "the id of a finding to copy into --share-with first",
		"swarm_disband share_with":     "the group that gets what is shared",
	}
}

func roleHelp() map[string]string {
	return map[string]string{
		"role_event classification": "how secret it is; without it internal",
		"role_event dry_run":        "only show what would be decided",
		"role_event payload":        "what happened, by name",
		"role_spawn params":         `what the template leaves open: {"parameter": "value"}`,
	}
}
