package diag

// A Code names a kind of diagnostic permanently: "AS301". The first digit is the family: 1 syntax, 2 names and
// arguments, 3 types and composition, 4 placement, 5 schemas, 6 capabilities, 7 run.
type Code string

// Syntax: what Starlark's grammar lacks.
const (
	SyntaxError       Code = "AS101"
	FString           Code = "AS102"
	TryExcept         Code = "AS103"
	ClassStatement    Code = "AS104"
	ImportStatement   Code = "AS105"
	IsOperator        Code = "AS106"
	PowerOperator     Code = "AS107"
	FormatSpec        Code = "AS108"
	TypeAnnotation    Code = "AS109"
	AdjacentStrings   Code = "AS110"
	ChainedComparison Code = "AS111"
	PythonOnly        Code = "AS112"
)

// Names and arguments.
const (
	UndefinedName        Code = "AS201"
	UnknownArgument      Code = "AS202"
	MissingArgument      Code = "AS203"
	WrongArgument        Code = "AS204"
	TooManyArguments     Code = "AS205"
	HidesBuiltin         Code = "AS206"
	TruthValue           Code = "AS207"
	CapturedLoopVariable Code = "AS208"
	UnknownAttribute     Code = "AS209"
	CalledWhileComposing Code = "AS210"
	LoadFailed           Code = "AS211"
	LoadCycle            Code = "AS212"
	ScriptError          Code = "AS213"
	TypeComparison       Code = "AS214"
	NoMain               Code = "AS215"
	CallbackArity        Code = "AS216"
	Reassigned           Code = "AS217"
	Unassigned           Code = "AS218"
	WrongOperand         Code = "AS219"
	NoSuchKey            Code = "AS220"
	FrozenValue          Code = "AS221"
	NoReturn             Code = "AS222"
	BadFormat            Code = "AS223"
)

// Types and composition.
const (
	CannotJoin         Code = "AS301"
	InputsDiffer       Code = "AS302"
	OutputsDiffer      Code = "AS303"
	ForumInput         Code = "AS304"
	NotExhaustive      Code = "AS305"
	BadBranchKey       Code = "AS306"
	LoopBound          Code = "AS307"
	MixedOperators     Code = "AS308"
	UnionOfNodes       Code = "AS309"
	NotANode           Code = "AS310"
	UnknownPick        Code = "AS311"
	NoSkill            Code = "AS312"
	SkillConflict      Code = "AS313"
	UnknownPlaceholder Code = "AS314"
	LoopFeedback       Code = "AS315"
	EmptyComposition   Code = "AS316"
	UncheckedAny       Code = "AS317"
	NotAList           Code = "AS318"
	LiteralPlaceholder Code = "AS319"
	BadCondition       Code = "AS320"
	DeadEdge           Code = "AS321"
	Unreachable        Code = "AS322"
	NoExit             Code = "AS323"
	BadVote            Code = "AS324"
	NeedsModel         Code = "AS325"
	UnusedAgent        Code = "AS326"
	UndescribedTool    Code = "AS327"
	OpenedOperand      Code = "AS328"
	UnsharedBudget     Code = "AS329"
)

// Placement.
const (
	AlreadyPlaced        Code = "AS401"
	SealedNode           Code = "AS402"
	ComposedWhileRunning Code = "AS403"
)

// Schemas and values.
const (
	UnnamedType   Code = "AS501"
	BadField      Code = "AS502"
	UnknownField  Code = "AS503"
	WrongValue    Code = "AS504"
	TagClash      Code = "AS505"
	UnresolvedRef Code = "AS506"
	BadEnum       Code = "AS507"
	DuplicateName Code = "AS508"
	MissingField  Code = "AS509"
	BadSchema     Code = "AS510"

	SchemaTooLarge Code = "AS511"
	NoConstraint   Code = "AS512"
)

// Capabilities.
const (
	OutsideDirectory Code = "AS601"
	FileMissing      Code = "AS602"
	BadServer        Code = "AS630"
	ServerClash      Code = "AS631"
	NoServers        Code = "AS632"
	ServerNotGranted Code = "AS633"
	NoSecret         Code = "AS634"
)

// Capabilities of scripts: sh, http, fs and env, while loading and in a run.
const (
	NotGranted   Code = "AS620"
	SecretAsText Code = "AS621"
	BadGrant     Code = "AS622"
	Widened      Code = "AS623"
	ToolDenied   Code = "AS624"

	UngrantedUse Code = "AS758"
	TouchFailed  Code = "AS759"
	TouchTooBig  Code = "AS760"
	TouchRefused Code = "AS761"
)

// Run.
const (
	CallbackFailed      Code = "AS701"
	NoRoute             Code = "AS702"
	LoopLimit           Code = "AS703"
	BudgetExceeded      Code = "AS704"
	WrongTypeAtBoundary Code = "AS705"
	BadModelOutput      Code = "AS706"
	NoModel             Code = "AS707"
	BadAlias            Code = "AS737"
	UnknownProvider     Code = "AS708"
	MissingKey          Code = "AS709"
	ProviderError       Code = "AS710"
	Timeout             Code = "AS711"
	Cancelled           Code = "AS712"
	ToolFailed          Code = "AS713"
	ScriptedModel       Code = "AS714"
	Panic               Code = "AS715"
	BadInput            Code = "AS716"
	StepLimit           Code = "AS717"
	ReplayMismatch      Code = "AS718"
	ContextLength       Code = "AS719"
	AuthRefused         Code = "AS720"
	RateLimited         Code = "AS721"
	UnknownTool         Code = "AS722"
	JournalFailed       Code = "AS723"
	NoQuorum            Code = "AS724"
	ToolNotMended       Code = "AS730"
	ToolEscalated       Code = "AS731"
	ToolGaveUp          Code = "AS732"
	NotChosen           Code = "AS735"
	MockFailed          Code = "AS736"
	UnknownPrice        Code = "AS738"
	BudgetsDiffer       Code = "AS739"

	BadSession  Code = "AS753"
	SessionBusy Code = "AS754"
	StoreFailed Code = "AS755"
	NoSession   Code = "AS756"
	MemoryLimit Code = "AS757"

	RunHeld       Code = "AS776"
	RunLost       Code = "AS777"
	RunNotFound   Code = "AS778"
	UnknownEffect Code = "AS779"
	WaitsForValue Code = "AS780"
	RunDiverged   Code = "AS781"
	OtherABI      Code = "AS782"
	BadSignal     Code = "AS783"
	RunExists     Code = "AS784"
	BlobGone      Code = "AS785"
	WorkerLost    Code = "AS786"
	NoWorker      Code = "AS787"

	Denied        Code = "AS745"
	NeedsApproval Code = "AS746"
	BadRule       Code = "AS747"
	UnknownRule   Code = "AS748"

	ServerUnreachable Code = "AS762"
	ServerLost        Code = "AS763"
	ServerProtocol    Code = "AS764"
	ServerTools       Code = "AS765"
	ServerResult      Code = "AS766"
	ServerTimeout     Code = "AS767"
	ServerSignIn      Code = "AS770"
	SignInFailed      Code = "AS771"
	ToolRule          Code = "AS749"

	AssertionFailed Code = "AS801"
	Unanswered      Code = "AS802"
	UnusedAnswer    Code = "AS803"
	BadTest         Code = "AS804"
	SnapshotDiffers Code = "AS805"
	NoTests         Code = "AS806"
	FlakyTest       Code = "AS807"

	FlowAgent       Code = "AS901"
	FlowTwice       Code = "AS902"
	FlowUnreached   Code = "AS903"
	FlowNoEnd       Code = "AS904"
	FlowDead        Code = "AS905"
	FlowGap         Code = "AS906"
	FlowCycle       Code = "AS907"
	FlowIgnored     Code = "AS908"
	FlowTool        Code = "AS909"
	FlowKeyTwice    Code = "AS910"
	FlowConstant    Code = "AS911"
	FlowCondition   Code = "AS912"
	FlowModel       Code = "AS913"
	FlowPlaceholder Code = "AS914"
	FlowSyntax      Code = "AS915"
	FlowField       Code = "AS916"
	FlowWord        Code = "AS917"
	FlowNotScript   Code = "AS918"
	FlowExport      Code = "AS919"
)
