package starfmt

import (
	"strings"

	"github.com/bazelbuild/buildtools/build"
)

// keepStrings makes string literals print as they were written, in double quotes if that changes nothing else. The
// printer's own quoting is for Latin-1 texts.
func keepStrings(file *build.File) {
	build.Edit(file, func(x build.Expr, stack []build.Expr) build.Expr {
		s, ok := x.(*build.StringExpr)
		if !ok {
			return nil
		}
		if len(stack) > 0 {
			if _, module := stack[len(stack)-1].(*build.LoadStmt); module { // always a StringExpr
				s.Token = doubled(s.Token)
				return nil
			}
		}
		return &build.LiteralExpr{Comments: s.Comments, Start: s.Start, Token: doubled(s.Token)}
	})
}

// doubled returns a literal in double quotes if it needs no escape for that.
func doubled(token string) string {
	open := strings.IndexByte(token, '\'')
	if open < 0 || strings.ContainsAny(token, `"\`) {
		return token
	}
	prefix, body := token[:open], token[open:]
	if strings.HasPrefix(body, "'''") && len(body) >= 6 {
		return prefix + `"""` + body[3:len(body)-3] + `"""`
	}
	return prefix + `"` + body[1:len(body)-1] + `"`
}
