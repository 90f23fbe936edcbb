package good

// Nothing is more than the other file has.
type Nothing struct{}
