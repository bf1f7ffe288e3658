package archtest

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const security = "SECURITY.md"

// promise is a bullet, a paragraph or a row of a table of SECURITY.md, by its first words,
// and the tests that prove it: functions, or scripts of scenarios (x.txt).
type promise struct {
	begins string
	tests  []string
}

// proofs of what each section of SECURITY.md promises, in the order of the page. Every
// block of a section has a row; of the section about limits only those that name a bound
// or a mechanism have one.
var proofs = map[string][]promise{
	"The model": {
		{"an agent that wants more", list("TestAcceptedChildDoesNothingItsParentMayNot_INV_ATTENUATE",
			"TestAdversary", "least_privilege.txt")},
		{"words that reach a model", list("TestSecondHandWordsStayMarked_INV_TAINT", "TestHotTextIsEscaped",
			"TestNearWordsNeverTakeEffect_INV_RELEASE")},
		{"an agent that lies", list("TestOnlyTheObserverAndTimeMoveTiers_INV_TIER", "TestDuties_INV_DUTIES",
			"TestStaleFilesDoNotPass_INV_FRESH")},
		{"a process of your user", list("TestPassphrase", "TestHardenProcess")},
		{"another user of the machine", list("TestCreatedModes", "TestDatabaseIsPrivate",
			"TestM04EveryRouteNeedsAToken", "TestSettingsThatOthersMayWriteAreRefused")},
		{"a host on the network", list("TestServeKeepsToLoopback", "TestM04EveryRouteNeedsAToken",
			"TestRequestsWithoutATokenTakeTurns")},
		{"a listener at a NATS server", list("TestEventsGoOutward", "TestRefusals")},
		{"the finder of the disk", list("TestSealThenOpen", "TestPassphrase")},
		{"a person who changes the record later", list("TestTamperingIsNamedAndLocated",
			"TestCheckpointsElsewhereShowARollback")},
	},
	"What is defended": {
		{"An agent cannot do more", list("TestAcceptedChildDoesNothingItsParentMayNot_INV_ATTENUATE",
			"TestShrinkingAnAncestorNeverAllows_INV_CHAIN", "TestScopingMatrixThroughTools", "TestAdversary")},
		{"No agent bears a name", list("TestANameThatPassesForAnother", "TestNoSourceIsForged", "TestANameIsNoAuthor")},
		{"Once a revocation has returned", list("TestInFlight_INV_REVOKE", "TestRevocationRace",
			"TestRevocationIsFelt", "TestAStreamEndsWithItsCallersIdentity")},
		{"Only these change a private item", list("TestPrivateRowsAreSovereign",
			"TestRulersOfAGroup_INV_SOVEREIGN", "TestWhoseContext", "TestHotOfOthers",
			"TestLifecycleRoutinesAreFenced")},
		{"What a reader may not see", list("TestHiddenIsAbsent", "TestOthersChangeNoAnswer_INV_NO_ORACLE",
			"TestTimingOfHidden")},
		{"The node slows an agent", list("TestCallersAreSlowedDown",
			"TestCallsThatFindNothingCountLikeRefusedOnes", "TestThePersonIsNeverSuspended", "suspension.txt")},
		{"What a session writes after", list("TestSecondHandWordsStayMarked_INV_TAINT",
			"TestNearWordsNeverTakeEffect_INV_RELEASE", "TestAnInstructionNeedsAnIndependentSecondSource",
			"TestAnInstructionNeedsATrustedAuthor", "TestWhatInstructsWaitsForAPerson_INV_RELEASE",
			"TestWordsOfACommandAreNotFolded_INV_RELEASE", "TestAReleaseEndsWithItsWords_INV_RELEASE",
			"TestWordsHeldBackStaySo_INV_RELEASE", "instructions.txt")},
		{"Only its author, an owner or admin", list("TestNoAgentBuriesWhatIsNotItsOwn",
			"TestWhatTookAPlaceByAnothersWordStays_INV_SUCCESSION", "TestASuccessorCountsOnlyWhileItIsEffective",
			"TestSupersedingAPersonsWordsIsAProposal_INV_PROPOSAL", "TestALowAgentProposes_INV_PROPOSAL",
			"TestProposalsExpire_INV_PROPOSAL")},
		{"What the person, the owner", list("TestWhatWasJudgedWrongIsMarkedAndLast",
			"TestNothingJudgedWrongIsCarried")},
		{"What a returning agent brings", list("TestReturnIsStagedAndReviewed_INV_STAGED", "TestReviewsExpire",
			"TestApproveThenSwap_INV_SHOWN", "TestNobodyReviewsItself_INV_REVIEWER")},
		{"An agent adds to its groups", list("TestNothingIsPushedWithoutConsent_INV_CONSENT",
			"TestInvitationsTellNobodyWhoExists_INV_NO_ORACLE", "consent.txt")},
		{"An author who writes much", list("TestAFloodBuriesNothing_INV_VOICES",
			"TestInjectedLinesHaveManyVoices_INV_VOICES",
			"TestGapHidesTheOldestAndIsAcknowledgedWithTheFirstPage")},
		{"Only the user's verdicts", list("TestAttackAVouchOverThePerson", "TestOnlyTheObserverAndTimeMoveTiers_INV_TIER",
			"TestTiersFallWithHysteresisAndRiseAtTheirBeginnings_INV_TIER", "TestRelayedWordsHaveALimit",
			"TestTheUserConfirmsAndRejectsRelayedWords")},
		{"An agent earns capability trust", list("TestWhatEarnsCapabilityTrust_INV_EARNED",
			"TestWhoseWordRatesAnExecutor_INV_EARNED")},
		{"An answer of the client", list("TestWhatGoesOnIsNotDecided_INV_ASKED", "TestAPersonIsAsked_INV_ASKED",
			"TestWhereAPersonDecides_INV_PERSON")},
		{"A sub-agent of Claude Code", list("TestSubAgentsActAsThemselves")},
		{"Hooks show an agent only", list("TestRecallByHook", "TestHooksStayWithinTheirTokens",
			"TestAPromptAsksNoModel")},
		{"An import believes", list("TestEditedExportsAreExternal_INV_IMPORT",
			"TestSignedWordsUnderAnotherSubjectAreTheImporters_INV_IMPORT",
			"TestUnsignedRecordsAreMarked_INV_IMPORT", "TestSignedExportsComeBackAsTheyWere",
			"TestImportReplacesAContextOnDemandAlone_INV_IMPORT")},
		{"The database holds hashes", list("TestSecretsAreInNoOtherFile", "TestSecretsAreNeverPrinted",
			"TestCreatedModes", "TestSealThenOpen")},
		{"Over HTTP only", list("TestM04EveryRouteNeedsAToken",
			"TestStrangersNeverKeepAClientWithATokenWaiting", "TestBodiesWithoutATokenAreBounded",
			"TestRequestsWithoutATokenTakeTurns", "TestAChallengeTellsNothingOfItsAgent",
			"TestEveryPageWantsASession",
			"TestAttackSessionsOfASubtree", "TestAttackStrangersWithoutAToken")},
		{"A page of the console", list("TestEveryPageWantsASession", "TestALinkOpensThePagesOnce", "TestSessionsEnd",
			"TestAnAgentsTokenOpensNoPage", "TestFormsComeFromThePages", "TestM01FormsOfPagesWithoutAReferrer")},
		{"A request to a webhook", list("TestHooksAreSigned_INV_HOOK_SIGNED", "TestEventsUnderKills")},
		{"A role does alone", list("TestHandle", "TestWhatIsAskedHasItsPerson_INV_ROLE_ASK",
			"TestNoChildExceeds_INV_ROLE_CEILING")},
		{"The program does not use", list("TestSettingsThatOthersMayWriteAreRefused")},
		{"A worker of `cordelia run`", list("TestWorkersReachWhatTheyNeedAlone_INV_SHIELD",
			"TestShieldsThatCannotBeReadStartNothing_INV_SHIELD", "TestRecordDecides_INV_PROOF",
			"TestEnvironmentIsAList", "TestDoorServesItsOwnWorkerAlone_INV_DOOR", "TestWhatWasJudgedIsMerged",
			"TestVerifiableNeedsProof_INV_PROOF", "TestRunPreparesAsTheRepositorySays")},
		{"The program sends no text", list("TestConnectionsAreMadeInFewPlaces", "TestEmbeddingsAreOff",
			"TestPrivateItemsAreSentOnlyIfSaidSo", "TestPlainTextStaysOnThisMachine",
			"TestTheKeyIsNotCarriedElsewhere", "TestAnAPIFillsTheSeats", "TestAPIFaults")},
		{"A refusal takes 5 ms", list("TestARefusalTakesItsTime", "TestTimingOfHidden")},
	},
	"What is not": {
		{"**Processes of one user", list("TestPassphrase", "TestProtectKeyIsThePersons")},
		{"Below version 9 of Landlock", list("TestShieldSaysWhatAKernelHolds")},
		{"The node believes a client", list("TestSubAgentsActAsThemselves")},
		{"A process that writes the database", list("TestWhatIsInForceIsWhatTheRecordSays_INV_DEEP")},
		{"A reader of the key files", list("TestACompromisedKeyVouchesForNothing_INV_IMPORT")},
		{"Only the disk bounds", list("TestLargeSwarm", "TestReturnsAreBounded", "suspension.txt")},
		{"Several authors who flood", list("TestQuarantineHidesAnAuthorAndWhatFollows_INV_HIDDEN",
			"author_quarantine.txt")},
		{"An agent may hold several tokens", list("TestTokenEnds", "revoking.txt")},
		{"An agent does not alone validate", list("TestNobodyValidatesAloneWhatItDoubted_INV_QUARANTINE")},
		{"An agent's word counts for nothing", list("TestOwnFamilyDoesNotCount_INV_RELATED",
			"TestIndependentWordsHaveALimit", "TestWeights")},
		{"At most two predictions", list("TestTwoPredictionsADayCount",
			"TestPredictionsAboutOwnFilesWeighHalf")},
		{"A lesson advises the planners", list("TestAPersonMakesALessonBind_INV_LESSON",
			"TestOneFailedTaskForbidsNothing_INV_LESSON", "TestSuccessLiftsALesson_INV_LESSON",
			"TestAPersonWithdrawsALesson")},
		{"While an agent holds R1", list("TestNoToolGivesLessons_INV_WITHHELD",
			"TestWhoGetsNoLessons_INV_WITHHELD")},
		{"An agent that may take", list("TestBadAnswersCostTheSeat", "TestTakingTurnsAtASeatEnds")},
		{"What a model does with text", list("TestHiddenCharactersAreShown")},
	},
	"What the audit record proves": {
		{"Each change is one entry", list("TestAuditVerifies", "TestINV_AUDIT_ChangeFailsWithItsRecord",
			"TestRootsAreThoseOfTlog", "TestRecordVerifiesAfterAnyLife", "TestCheckpointsReachAFolderLater")},
		{"The checkpoints are C2SP", list("TestCheckpointIsASignedNote", "TestVerifyAcrossANewNodeKey",
			"audit.txt")},
		{"an entry changed, deleted", list("TestTamperingIsNamedAndLocated", "TestINV_AUDIT_TamperingIsFound")},
		{"newest entries cut off", list("TestTamperingWithCheckpoints", "TestCheckpointsElsewhereShowARollback",
			"TestVerifyFailsOnACutRecord")},
		{"a checkpoint changed, removed", list("TestEveryByteOfACheckpointCounts",
			"TestTamperingWithCheckpoints", "TestRemovedCheckpointShowsWithoutACopy")},
		{"`cordelia audit verify --deep`", list("TestWhatIsInForceIsWhatTheRecordSays_INV_DEEP")},
		{"It does not show:", list("TestWithoutCheckpointsTheEndIsNotProtected")},
		{"what happened to entries", list("TestWithoutCheckpointsTheEndIsNotProtected")},
		{"anything, if the attacker", list("TestWithoutCheckpointsTheEndIsNotProtected",
			"TestDoctorWantsCheckpointsElsewhere")},
		{"that a restore was meant", list("TestWhatARestoreLeft", "TestForksAreNoTampering")},
		{"details that were erased", list("TestTamperingIsNamedAndLocated", "TestINV_AUDIT_TamperingIsFound")},
		{"with `--durability relaxed`", list("TestWithoutCheckpointsTheEndIsNotProtected")},
	},
	"What you run": {
		{"A release has checksums", list("TestRelease")},
		{"Dependencies are pinned", list("TestDependenciesAreListed", "TestConnectionsAreMadeInFewPlaces")},
		{"`cordelia doctor` finds", list("TestDoctor", "TestDoctorWantsCheckpointsElsewhere")},
	},
}

// limits is the section whose blocks need no proof unless they name one.
const limits = "What is not"

func list(tests ...string) []string { return tests }

// blocks gives the bullets, paragraphs and rows of tables of each section of a page, without
// the heads of tables.
func blocks(text string) map[string][]string {
	found := map[string][]string{}
	section, open := "", false
	for line := range strings.SplitSeq(text, "\n") {
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case isTitle:
			section, open = title, false
		case line == "" || section == "":
			open = false
		case strings.HasPrefix(line, "|---"):
			found[section] = found[section][:len(found[section])-1]
		case strings.HasPrefix(line, "| "), strings.HasPrefix(line, "- "):
			found[section], open = append(found[section], line[2:]), true
		case open:
			found[section][len(found[section])-1] += " " + strings.TrimSpace(line)
		default:
			found[section], open = append(found[section], line), true
		}
	}
	return found
}

func TestSecurityPageIsProven(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, security))
	require.NoError(t, err)
	page := blocks(string(raw))
	require.ElementsMatch(t, slices.Collect(maps.Keys(proofs)), slices.Collect(maps.Keys(page)), "sections of %s",
		security)
	exist := namesOfTests(t)
	for section, rows := range proofs {
		proven := map[string]bool{}
		for _, p := range rows {
			var matches []string
			for _, b := range page[section] {
				if strings.HasPrefix(b, p.begins) {
					matches = append(matches, b)
				}
			}
			assert.Len(t, matches, 1, "%s, %s: one block begins with %q", security, section, p.begins)
			assert.NotEmpty(t, p.tests, "%s: %q has no test", section, p.begins)
			for _, b := range matches {
				proven[b] = true
			}
			for _, name := range p.tests {
				assert.True(t, exist[name], "%s: %q is proven by %s, which does not exist", section, p.begins, name)
			}
		}
		for _, b := range page[section] {
			introduces := section == "The model" && strings.HasPrefix(b, "Cordelia protects")
			assert.True(t, proven[b] || introduces || section == limits, "%s, %s: no test is named for %q", security,
				section, b)
		}
	}
}

// namesOfTests are the functions that are tests, and the scripts of scenarios and of commands.
func namesOfTests(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, f := range parsed(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names[fn.Name.Name] = true
			}
		}
	}
	for _, folder := range []string{"internal/proof/scenario/testdata", "cmd/cordelia/testdata/cli"} {
		scripts, err := filepath.Glob(filepath.Join(root, folder, "*.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, scripts, folder)
		for _, s := range scripts {
			names[filepath.Base(s)] = true
		}
	}
	return names
}

// connects are the names by which a program opens connections of its own.
var connects = regexp.MustCompile(
	`^(http\.(Get|Post|PostForm|Head|NewRequest|NewRequestWithContext|DefaultClient|Client|Transport)` +
		`|net\.(Dial\w*|Dialer)|tls\.Dial\w*|websocket\.\w+|nats\.Connect|pgconn\.Connect\w*)$`)

// Of the packages that are in the program only the client of a model's server, embeddings
// and seats that use it, those of a PostgreSQL server and of a NATS server, the driver that the
// demo uses against its own loopback server, and the pipe of a run's worker to the unix socket of
// its runner connect to anything.
func TestConnectionsAreMadeInFewPlaces(t *testing.T) {
	found := map[string]bool{}
	for _, f := range parsed(t) {
		if f.test || forTests(f.pkg) || strings.HasPrefix(f.pkg, proof) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && connects.MatchString(x.Name+"."+s.Sel.Name) {
				found[f.pkg] = true
			}
			return true
		})
	}
	require.Equal(t, []string{"internal/drive", "internal/embedding", "internal/endpoint", "internal/jetstream",
		"internal/store/postgres", "run"}, slices.Sorted(maps.Keys(found)))
	for _, f := range parsed(t) {
		if !f.test && !strings.HasPrefix(f.pkg, proof) && slices.Contains(f.imports, module+"/internal/drive") {
			require.Equal(t, "internal/demo", f.pkg, f.path)
		}
	}
}

// Every module that the program requires itself is in the table of docs/decisions.md, and
// has its hash in go.sum.
func TestDependenciesAreListed(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(raw)
	}
	decisions, sums := read("docs/decisions.md"), read("go.sum")
	direct := 0
	for line := range strings.SplitSeq(read("go.mod"), "\n") {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "\t") || len(fields) < 2 || strings.Contains(fields[0], ":") {
			continue
		}
		require.Contains(t, sums, fields[0]+" "+fields[1]+" h1:", "go.sum has the hash of %s", fields[0])
		if strings.HasSuffix(line, "// indirect") {
			continue
		}
		direct++
		name := strings.TrimPrefix(fields[0], "github.com/")
		if base := path.Base(name); regexp.MustCompile(`^v\d+$`).MatchString(base) {
			name = path.Dir(name)
		}
		require.Contains(t, decisions, "| "+name+" |", "docs/decisions.md says what %s is for", fields[0])
	}
	require.Positive(t, direct)
}
