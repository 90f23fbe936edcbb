package e2e

import "fmt"

// trainedContext is the context length that the models declare; a server may use fewer tokens.
const trainedContext = 8192

// modelSize holds the sizes of a model's parts.
type modelSize struct{ width, heads, inner, layers int }

// weights returns the numbers of a model; nil stands for zeros.
type weights struct {
	embedding, output []float32 // a row of width for each token
	norm              float32   // multiplied with the last state
	inner             func(n int) []float32
}

func writeGGUF(name string, v *vocabulary, s modelSize, w weights) []byte {
	f := &ggufFile{}
	f.text("general.architecture", "llama")
	f.text("general.name", name)
	f.number("general.file_type", tensorFloat32)
	f.number("general.quantization_version", 2)
	f.number("llama.context_length", trainedContext)
	f.number("llama.embedding_length", s.width)
	f.number("llama.block_count", s.layers)
	f.number("llama.feed_forward_length", s.inner)
	f.number("llama.attention.head_count", s.heads)
	f.number("llama.attention.head_count_kv", s.heads)
	f.number("llama.rope.dimension_count", s.width/s.heads)
	f.float("llama.rope.freq_base", 10_000)
	f.float("llama.attention.layer_norm_rms_epsilon", 1e-6)
	f.number("llama.vocab_size", len(v.tokens))
	f.text("tokenizer.ggml.model", "gpt2")
	f.text("tokenizer.ggml.pre", "gpt-2")
	f.texts("tokenizer.ggml.tokens", v.tokens)
	f.numbers("tokenizer.ggml.token_type", v.kinds)
	f.texts("tokenizer.ggml.merges", merges())
	f.number("tokenizer.ggml.bos_token_id", v.ids["<|begin|>"])
	f.number("tokenizer.ggml.eos_token_id", v.end)
	f.flag("tokenizer.ggml.add_bos_token", false)
	f.flag("tokenizer.ggml.add_eos_token", false)

	f.tensor("token_embd.weight", w.embedding, s.width, len(v.tokens))
	for l := range s.layers {
		block := fmt.Sprintf("blk.%d.", l)
		f.tensor(block+"attn_norm.weight", all(s.width, 1), s.width)
		for _, part := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			f.tensor(block+part+".weight", w.inner(s.width*s.width), s.width, s.width)
		}
		f.tensor(block+"ffn_norm.weight", all(s.width, 1), s.width)
		f.tensor(block+"ffn_gate.weight", w.inner(s.width*s.inner), s.width, s.inner)
		f.tensor(block+"ffn_up.weight", w.inner(s.width*s.inner), s.width, s.inner)
		f.tensor(block+"ffn_down.weight", w.inner(s.width*s.inner), s.inner, s.width)
	}
	f.tensor("output_norm.weight", all(s.width, w.norm), s.width)
	f.tensor("output.weight", w.output, s.width, len(v.tokens))
	return f.bytes()
}

func all(n int, value float32) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = value
	}
	return out
}
