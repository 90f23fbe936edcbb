package mcp_test

func host() {}
