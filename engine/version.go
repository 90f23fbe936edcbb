package engine

import "github.com/agentscript/agentscript/engine/internal/abi"

// ABI numbers the grammar of positions and the recipe of ids. Runs recorded under one ABI can
// be answered by every engine of that ABI.
const ABI = abi.Version
