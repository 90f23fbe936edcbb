package plain
