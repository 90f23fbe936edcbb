package cover

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Instructions of the interpreter, by number. Those from jump on have an argument.
const (
	opNop      = 0
	opPlus     = 23 // with one operand
	opJump     = 43
	opCondJump = 44
	opIterJump = 45
	opLocal    = 53
	opGlobal   = 58
	opCall     = 64
)

// jumpSize is the size of a jump: its instruction, and its target in four bytes.
const jumpSize = 5

// instr is an instruction. The compiler reserves four bytes for the target of a jump and fills the unused ones with
// no-op instructions, which count as steps. nops is the number of no-ops that follow a jump that may not be taken.
type instr struct {
	at, op, arg, size, nops int
}

func (i instr) jumps() bool   { return i.op == opJump || i.decides() }
func (i instr) decides() bool { return i.op == opCondJump || i.op == opIterJump }

func instrs(code []byte) ([]instr, error) {
	var list []instr
	for at := 0; at < len(code); {
		i := instr{at: at, op: int(code[at]), size: 1}
		if i.op >= opJump {
			for shift := 0; ; shift += 7 {
				if at+i.size >= len(code) {
					return nil, errCompiled
				}
				b := code[at+i.size]
				i.size++
				i.arg |= int(b&0x7f) << shift
				if b < 0x80 {
					break
				}
			}
		}
		if i.jumps() {
			if at+jumpSize > len(code) {
				return nil, errCompiled
			}
			i.nops, i.size = jumpSize-i.size, jumpSize
		}
		list = append(list, i)
		at += i.size
	}
	return list, nil
}

// Aligned returns the covered program of a file with as many steps after each jump as in the plain one. The compiler
// emits a number of no-ops that depends on the size of the target's address, which probes change.
func (f *File) Aligned(plain, covered *starlark.Program) (*starlark.Program, error) {
	from, err := taken(plain)
	if err != nil {
		return nil, err
	}
	to, err := taken(covered)
	if err != nil {
		return nil, err
	}
	if len(from.functions) != len(to.functions) {
		return nil, errCompiled
	}
	for i, fn := range to.functions {
		if err := fn.align(from.functions[i], to.globals, f.tests); err != nil {
			return nil, err
		}
	}
	return to.compiled()
}

// align gives the jumps of a covered function the steps of the plain one. The jumps that do not belong to a probe are
// the same in both, in the same order. tests holds the numbers of the probes that precede a jump of the script.
func (f *funcode) align(plain *funcode, globals []string, tests map[int]bool) error {
	own, err := instrs(f.code)
	if err != nil {
		return err
	}
	want, err := instrs(plain.code)
	if err != nil {
		return err
	}
	next := 0
	moved := make(map[int]int, len(own)) // addresses
	size := 0
	for i := range own {
		moved[own[i].at] = size
		switch own[i].op {
		case opJump:
			own[i].nops = 0
		case opCondJump, opIterJump:
			own[i].nops = 0
			if f.ofProbe(own, i, globals, tests) {
				break
			}
			for next < len(want) && !want[next].decides() {
				next++
			}
			if next == len(want) || want[next].op != own[i].op {
				return errCompiled
			}
			own[i].nops = want[next].nops
			next++
		}
		size += own[i].size + own[i].nops
	}
	for ; next < len(want); next++ {
		if want[next].decides() {
			return errCompiled
		}
	}
	code := make([]byte, 0, size)
	for _, i := range own {
		switch i.op {
		case opJump, opCondJump, opIterJump:
			target, ok := moved[i.arg]
			if !ok {
				return errCompiled
			}
			code = append(code, byte(i.op), byte(target)|0x80, byte(target>>7)|0x80, byte(target>>14)|0x80, byte(target>>21)&0x7f)
			for range i.nops {
				code = append(code, opNop)
			}
		default:
			code = append(code, f.code[i.at:i.at+i.size]...)
		}
	}
	f.code = code
	f.lines = movedLines(f.lines, moved)
	return nil
}

// ofProbe reports whether the jump at index i belongs to a probe.
func (f *funcode) ofProbe(list []instr, i int, globals []string, tests map[int]bool) bool {
	if i+1 < len(list) && list[i+1].op == opGlobal {
		if n, probe := number(globals[list[i+1].arg]); probe && tests[n] {
			return true // the test is done: one of two probes follows
		}
	}
	if i < 2 {
		return false
	}
	push, op := list[i-2], list[i-1]
	switch {
	case push.op == opGlobal && op.op == opCall:
		n, probe := number(globals[push.arg])
		return probe && !tests[n]
	case push.op == opLocal && op.op == opPlus:
		return strings.HasPrefix(string(f.locals[push.arg].name), local)
	}
	return false
}

// number returns the number of a probe that a global holds.
func number(name string) (int, bool) {
	digits, probe := strings.CutPrefix(name, global)
	n, err := strconv.Atoi(digits)
	return n, probe && err == nil
}

// movedLines returns the table of positions for instructions that have moved. An entry of the table holds the distance
// from the previous instruction with a position to the next one: 4 bits of the address, 5 of the line, 6 of the column,
// and whether the next entry continues it.
func movedLines(lines []int64, moved map[int]int) []int64 {
	var out []int64
	old, pc := 0, 0
	line, col := int64(0), int64(0) // still to be written
	for _, entry := range lines {
		x := uint16(entry)
		old += int(x >> 12)
		line += int64(int16(x<<4) >> 11)
		col += int64(int16(x<<9) >> 10)
		if x&1 != 0 {
			continue
		}
		for {
			step := min(moved[old]-pc, 0x0f)
			l, c := min(max(line, -0x10), 0x0f), min(max(col, -0x20), 0x1f)
			pc += step
			line -= l
			col -= c
			entry := uint16(step<<12) | uint16(l&0x1f)<<7 | uint16(c&0x3f)<<1
			if pc == moved[old] && line == 0 && col == 0 {
				out = append(out, int64(entry))
				break
			}
			out = append(out, int64(entry|1))
		}
	}
	return out
}
