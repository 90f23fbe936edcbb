package bounds

import (
	"maps"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// The names of the guards, which no script can write. A guard is indexed with its operand.
const (
	growing   = "growing operand"   // the left operand of an operator
	extending = "extending operand" // the left operand of x += y, which mutates a list
	added     = "added operand"     // the right operand of x[i] += y
	changing  = "changing operand"  // the right operand of x[i] *= y
	formatted = "formatted operand" // the right operand of f()[i] %= y
	methods   = "method owner"      // the receiver of a method that may return large values
)

// order is the order in which a file stores guards.
var order = [...]string{added, changing, extending, formatted, growing, methods}

// Names reports whether name is the name of a guard.
func Names(name string) bool { return slices.Contains(order[:], name) }

// Guards returns the guards for values of at most so many bytes.
func Guards(most int64) starlark.StringDict {
	return maps.Clone(newLimit(most).guards)
}

func (l *limit) makeGuards() starlark.StringDict {
	return starlark.StringDict{
		growing:   &guard{limit: l},
		extending: &guard{limit: l, take: l.extended},
		added:     &guard{limit: l, take: l.added},
		changing:  &guard{limit: l, take: l.changed},
		formatted: &guard{limit: l, fits: l.formatted},
		methods:   &guard{limit: l, take: l.owner},
	}
}

// guard is indexed with an operand and returns the operand, or a stand-in for it. An index does not allocate,
// unlike a call.
type guard struct {
	limit *limit
	take  func(starlark.Value) starlark.Value // nil for the left operand, the most frequent case
	fits  func(starlark.Value) error          // in place of take
}

var _ starlark.Mapping = (*guard)(nil)

func (g *guard) Get(v starlark.Value) (starlark.Value, bool, error) {
	switch {
	case g.take != nil:
		return g.take(v), true, nil
	case g.fits != nil:
		return v, true, g.fits(v)
	}
	return g.limit.left(v), true, nil
}

func (g *guard) String() string        { return "guard" }
func (g *guard) Type() string          { return "guard" }
func (g *guard) Freeze()               {}
func (g *guard) Truth() starlark.Bool  { return true }
func (g *guard) Hash() (uint32, error) { return 0, nil }

// Rewrite wraps operands of growing operators, and receivers of growing methods, in guards. It returns a
// function that undoes the change, so that later readers see the tree as written; in between, the tree is
// resolved and compiled. Positions do not change. trusted reports whether a name that the file does not bind
// refers to the interpreter's builtin.
func Rewrite(tree *syntax.File, trusted func(name string) bool) (restore func()) {
	r := &rewriter{}
	r.put = r.few[:0]
	r.kinds.begin(tree, trusted)
	r.stmts(tree.Stmts)
	r.first(tree)
	return func() {
		for _, b := range r.blocks {
			*b.at = b.old
		}
		for _, p := range r.put {
			*p.at = p.old
			if p.param != nil { // the resolver saw another name in its place
				startree.Unparen(p.old).(*syntax.Ident).Binding = p.param.Binding
			}
		}
		for _, c := range r.changed {
			c.s.Op, c.s.RHS = c.op, c.rhs
		}
	}
}

// rewriter is one walk over a tree.
type rewriter struct {
	kinds   kinds
	names   [len(order)]syntax.Ident // of the guards that the file stores; empty for unused ones
	put     []put
	few     [8]put // enough for most files
	changed []changed
	blocks  []longer
	sums    map[*syntax.BinaryExpr]bool // of literals

	params map[string]param // parameters that the current function never assigns
	loops  int              // number of loops around the current statement, within its function
}

// param is a parameter.
type param struct {
	id   *syntax.Ident
	kept bool // its guarded form is stored
}

// longer is a block into which statements were inserted.
type longer struct {
	at  *[]syntax.Stmt
	old []syntax.Stmt
}

// put is an operand that was wrapped in a guard.
type put struct {
	at    *syntax.Expr
	old   syntax.Expr
	param *syntax.Ident // the declaration of a parameter whose stored form replaces old; else nil
}

// changed is an augmented assignment that was rewritten as a plain one.
type changed struct {
	s   *syntax.AssignStmt
	op  syntax.Token
	rhs syntax.Expr
}

// replace wraps an operand of the operation at pos in a guard.
func (r *rewriter) replace(at *syntax.Expr, by string, pos syntax.Position) {
	p := put{at: at, old: *at}
	if kept := r.kept(p.old, by); kept != nil {
		*at, p.param = kept, r.params[startree.Unparen(p.old).(*syntax.Ident).Name].id
	} else {
		*at = r.guarded(p.old, by, pos)
	}
	r.put = append(r.put, p)
}

// kept returns the guarded form of a parameter used in a loop, which the function creates only once.
func (r *rewriter) kept(e syntax.Expr, by string) syntax.Expr {
	if by != growing || !r.param(e) {
		return nil
	}
	id := startree.Unparen(e).(*syntax.Ident)
	r.params[id.Name] = param{r.params[id.Name].id, true}
	return &syntax.Ident{NamePos: id.NamePos, Name: keptName(id.Name)}
}

// param reports whether an expression in a loop is a parameter whose guarded form can be stored.
func (r *rewriter) param(e syntax.Expr) bool {
	id, ok := startree.Unparen(e).(*syntax.Ident)
	if !ok || r.loops == 0 {
		return false
	}
	_, param := r.params[id.Name]
	return param && r.kinds.own(id.Name)
}

// keptName returns a name that no script can write.
func keptName(param string) string { return "guarded " + param }

// keep creates the guarded forms of parameters at the start of a function.
func (r *rewriter) keep(def *syntax.DefStmt) {
	var made []syntax.Stmt
	for _, p := range def.Params {
		if id := startree.ParamName(p); id != nil && r.params[id.Name].kept {
			made = append(made, &syntax.AssignStmt{OpPos: id.NamePos, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: id.NamePos, Name: keptName(id.Name)},
				RHS: r.guarded(&syntax.Ident{NamePos: id.NamePos, Name: id.Name}, growing, id.NamePos)})
		}
	}
	if made == nil {
		return
	}
	at := 0
	if s, ok := def.Body[0].(*syntax.ExprStmt); ok && written(s.X) {
		at = 1 // the docstring comes first
	}
	r.blocks = append(r.blocks, longer{&def.Body, def.Body})
	def.Body = slices.Concat(def.Body[:at], made, def.Body[at:])
}

// first stores the guards that a file uses in globals, which the interpreter accesses by index.
func (r *rewriter) first(tree *syntax.File) {
	used := 0
	for i := range r.names {
		if r.names[i].Name != "" {
			used++
		}
	}
	if used == 0 {
		return
	}
	type kept struct {
		s        syntax.AssignStmt
		lhs, rhs syntax.Ident
	}
	made, at := make([]kept, 0, used), syntax.MakePosition(&tree.Path, 1, 1)
	stmts := make([]syntax.Stmt, 0, used+len(tree.Stmts))
	for i, by := range order {
		if r.names[i].Name == "" {
			continue
		}
		made = append(made, kept{lhs: syntax.Ident{NamePos: at, Name: r.names[i].Name}, rhs: syntax.Ident{NamePos: at, Name: by}})
		k := &made[len(made)-1]
		k.s = syntax.AssignStmt{OpPos: at, Op: syntax.EQ, LHS: &k.lhs, RHS: &k.rhs}
		stmts = append(stmts, &k.s)
	}
	r.blocks = append(r.blocks, longer{&tree.Stmts, tree.Stmts})
	tree.Stmts = append(stmts, tree.Stmts...)
}

// Forget removes the guards of a file from its globals.
func Forget(globals starlark.StringDict) {
	for _, name := range globalNames {
		delete(globals, name)
	}
}

// globalNames lists the names of the globals that hold the guards.
var globalNames = func() (names [len(order)]string) {
	for i, name := range order {
		names[i] = "kept " + name
	}
	return names
}()

func (r *rewriter) guarded(e syntax.Expr, by string, pos syntax.Position) syntax.Expr {
	i := slices.Index(order[:], by)
	id := &r.names[i]
	id.Name = globalNames[i] // without a place: its only one would have each guard jump there and back in the table of lines
	return &syntax.IndexExpr{X: id, Lbrack: pos, Y: e, Rbrack: pos}
}

func (r *rewriter) stmts(list []syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

func (r *rewriter) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		r.expr(s.LHS)
		r.expr(s.RHS)
		r.augmented(s)
	case *syntax.DefStmt:
		params, loops := r.params, r.loops
		r.params, r.loops = nil, 0
		if len(s.Params) > 0 {
			r.params = make(map[string]param, len(s.Params))
		}
		for _, p := range s.Params {
			if id := startree.ParamName(p); id != nil {
				r.params[id.Name] = param{id: id}
			}
		}
		r.function(s, s.Params, func() {
			for _, a := range r.kinds.stack[len(r.kinds.stack)-1].assigned {
				delete(r.params, a.name)
			}
			r.stmts(s.Body)
			r.keep(s)
		})
		r.params, r.loops = params, loops
	case *syntax.ExprStmt:
		r.expr(s.X)
	case *syntax.ForStmt:
		r.expr(s.Vars)
		r.expr(s.X)
		r.loops++
		r.stmts(s.Body)
		r.loops--
	case *syntax.WhileStmt:
		r.loops++
		r.expr(s.Cond)
		r.stmts(s.Body)
		r.loops--
	case *syntax.IfStmt:
		r.expr(s.Cond)
		r.stmts(s.True)
		r.stmts(s.False)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			r.expr(s.Result)
		}
	}
}

func (r *rewriter) function(n syntax.Node, params []syntax.Expr, body func()) {
	for _, p := range params {
		if a := startree.ArgOf(p); a.Name != nil {
			r.expr(a.Value)
		}
	}
	r.kinds.enter(n)
	body()
	r.kinds.leave()
}

func (r *rewriter) expr(e syntax.Expr) {
	switch x := e.(type) {
	case *syntax.BinaryExpr:
		r.expr(x.X)
		r.expr(x.Y)
		r.binary(x)
		return
	case *syntax.LambdaExpr:
		params := r.params
		r.params = nil
		r.function(x, x.Params, func() { r.expr(x.Body) })
		r.params = params
		return
	case *syntax.Comprehension:
		r.comprehension(x)
		return
	case *syntax.DotExpr:
		r.expr(x.X)
		if growingMethod(x.Name.Name) {
			r.replace(&x.X, methods, x.Dot)
		}
		return
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		if part, ok := n.(syntax.Expr); ok && n != e {
			r.expr(part)
		}
		return n == e
	})
}

func (r *rewriter) comprehension(x *syntax.Comprehension) {
	r.kinds.enter(x)
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			r.expr(c.X)
		case *syntax.IfClause:
			r.expr(c.Cond)
		}
	}
	r.loops++
	r.expr(x.Body)
	r.loops--
	r.kinds.leave()
}

// binary guards the operands of x, which were rewritten before; kinds look through guards.
func (r *rewriter) binary(x *syntax.BinaryExpr) {
	a, b := r.kinds.of(x.X), r.kinds.of(x.Y)
	switch x.Op {
	case syntax.PLUS: // a sum with a number is a number
		switch {
		case a.number() || b.number():
		case r.written(x.X) && r.written(x.Y):
			if r.sums == nil {
				r.sums = map[*syntax.BinaryExpr]bool{}
			}
			r.sums[x] = true
		case !r.param(x.X) && r.param(x.Y):
			r.replace(&x.Y, growing, x.OpPos)
		default:
			r.replace(&x.X, growing, x.OpPos)
		}
	case syntax.PERCENT:
		if !a.number() && !b.small() { // inserting a number hardly grows a text
			r.replace(&x.X, growing, x.OpPos)
		}
	case syntax.STAR:
		if !a.small() {
			r.replace(&x.X, growing, x.OpPos)
		}
		if !b.small() {
			r.replace(&x.Y, growing, x.OpPos)
		}
	case syntax.LTLT:
		if !a.small() {
			r.replace(&x.X, growing, x.OpPos)
		}
	}
}

// written reports whether an expression is a literal text, list or tuple, or a sum of literals, which the
// compiler folds.
func (r *rewriter) written(e syntax.Expr) bool {
	x, sum := startree.Unparen(e).(*syntax.BinaryExpr)
	return sum && r.sums[x] || written(e)
}

// written reports whether an expression is a literal text, list or tuple.
func written(e syntax.Expr) bool {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Literal:
		return x.Token == syntax.STRING || x.Token == syntax.BYTES
	case *syntax.ListExpr, *syntax.TupleExpr:
		return true
	}
	return false
}

// augmented guards x op= y. For a name it becomes x = x op y; an assignment that mutates a list in place still
// does.
func (r *rewriter) augmented(s *syntax.AssignStmt) {
	op, ok := map[syntax.Token]syntax.Token{
		syntax.PLUS_EQ: syntax.PLUS, syntax.STAR_EQ: syntax.STAR, syntax.PERCENT_EQ: syntax.PERCENT, syntax.LTLT_EQ: syntax.LTLT,
	}[s.Op]
	if !ok {
		return
	}
	a, b := r.kinds.of(s.LHS), r.kinds.of(s.RHS)
	switch {
	case op == syntax.PLUS && (a.number() || b.number()),
		op == syntax.PERCENT && (a.number() || b.small()),
		op == syntax.STAR && a.small() && b.small(),
		op == syntax.LTLT && a.small():
		return
	}
	lhs := startree.Unparen(s.LHS)
	id, named := lhs.(*syntax.Ident)
	switch {
	case named && op == syntax.PLUS:
		r.plain(s, op, r.guarded(&syntax.Ident{NamePos: id.NamePos, Name: id.Name}, extending, s.OpPos))
	case named:
		r.plain(s, op, r.guarded(&syntax.Ident{NamePos: id.NamePos, Name: id.Name}, growing, s.OpPos))
		if x := s.RHS.(*syntax.BinaryExpr); op == syntax.STAR && !b.small() {
			x.Y = r.guarded(x.Y, growing, s.OpPos)
		}
	case op == syntax.PLUS:
		r.replace(&s.RHS, added, s.OpPos)
	case op == syntax.STAR:
		r.replace(&s.RHS, changing, s.OpPos)
	case repeatable(lhs): // for << and %, the interpreter does not consult the right operand
		r.plain(s, op, r.guarded(lhs, growing, s.OpPos))
	case op == syntax.PERCENT:
		r.replace(&s.RHS, formatted, s.OpPos)
	}
}

// plain rewrites x op= y as an assignment of left op y.
func (r *rewriter) plain(s *syntax.AssignStmt, op syntax.Token, left syntax.Expr) {
	r.changed = append(r.changed, changed{s, s.Op, s.RHS})
	s.Op, s.RHS = syntax.EQ, &syntax.BinaryExpr{X: left, OpPos: s.OpPos, Op: op, Y: s.RHS}
}

// repeatable reports whether an expression may be evaluated twice: it consists of names, texts, numbers,
// indexes and fields.
func repeatable(e syntax.Expr) bool {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Ident, *syntax.Literal:
		return true
	case *syntax.IndexExpr:
		return repeatable(x.X) && repeatable(x.Y)
	case *syntax.DotExpr:
		return repeatable(x.X)
	}
	return false
}
