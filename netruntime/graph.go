package netruntime

import "cmp"

// archGraph names the architecture of networks whose files carry their graph.
const archGraph = "graph"

// Graph is a network as a list of operations. Every value is an array (batch, length, channels) of
// float32. The batch and the length are chosen at each run. A file of arch "graph" carries it as
// JSON.
type Graph struct {
	Inputs  []Input  `json:"inputs"`
	Nodes   []Node   `json:"nodes"`   // every operand comes before its use
	Outputs []string `json:"outputs"` // names of inputs or nodes
}

// Input is a value that the caller provides.
type Input struct {
	Name     string `json:"name"`
	Channels int    `json:"channels"`
	// Once marks a value of length 1 in a run of any length, such as the state of a recurrent
	// layer.
	Once bool `json:"once,omitempty"`
}

// Node is one operation. Its result has the node's name.
type Node struct {
	Name string   `json:"name"`
	Op   string   `json:"op"` // one of the Op constants
	In   []string `json:"in"`

	Act     string `json:"act,omitempty"`     // of OpDense, OpBlend, OpConv, OpBatchNorm, OpAct: "elu", "relu", "sigmoid", "tanh"; empty is none
	Flip    bool   `json:"flip,omitempty"`    // OpConv: the kernel is reversed in time, as in a true convolution
	Tied    bool   `json:"tied,omitempty"`    // OpDense, OpConv: the weight's in and out axes are swapped
	Reverse bool   `json:"reverse,omitempty"` // OpLSTM: from the last frame to the first
	Columns []int  `json:"columns,omitempty"` // OpSelect: channels of the operand
	Factor  int    `json:"factor,omitempty"`  // OpDepool: length of the result over that of the operand, 2 to 16; 0 means 2

	// Tensors maps a role, such as "weight", to the name of the node's tensor. The default name is
	// "<node>.<role>". Nodes can share tensors.
	Tensors map[string]string `json:"tensors,omitempty"`
}

// maxFactor bounds Node.Factor.
const maxFactor = 16

// Times returns the factor by which an OpDepool lengthens its operand.
func (n *Node) Times() int { return cmp.Or(n.Factor, 2) }

// The operations. Each lists its tensors by role. I and O are the channels of the operand x and of
// the result y.
const (
	// OpDense is y = act(x·Wᵀ + b) at every frame: weight (O, I), bias (O).
	OpDense = "dense"
	// OpBlend is a dense layer with blended weights, a new blend at every frame: y = act(Σ_k ω_k
	// (W_k·x + b_k)) of x and the gating weights ω (K channels): weight (K, O, I), bias (K, O).
	OpBlend = "blend"
	// OpConv is a convolution over time that keeps the length: weight (O, I, W), bias (O); y[t] =
	// act(b + Σ_w W[:, :, w]·x[t + w − (W−1)/2]) with zeros outside the sequence. If Flip is set,
	// the weight's index is W−1−w instead of w.
	OpConv = "conv"
	// OpMaxPool halves the length: it keeps the larger of each pair of frames.
	OpMaxPool = "max_pool"
	// OpDepool lengthens by Factor: each frame becomes Factor frames, each with an equal share of
	// its value.
	OpDepool = "depool"
	// OpLSTM is a long short-term memory of x and, optionally, of the first state h, c (length 1):
	// weight (4H, I), recurrent (4H, H), bias (4H), gates in the order input, forget, cell, output.
	// The result is h at every frame. The values "<node>.h" and "<node>.c" are the last state, of
	// length 1.
	OpLSTM = "lstm"
	// OpBatchNorm is y = act((x − mean)/√(var + 1e-5)·gamma + beta): gamma, beta, mean, var (I).
	OpBatchNorm = "batch_norm"
	// OpAct applies Act.
	OpAct = "act"
	// OpSoftmax is the softmax over the channels.
	OpSoftmax = "softmax"
	// OpConcat joins the operands' channels.
	OpConcat = "concat"
	// OpSelect takes channels of the operand: Columns, in that order.
	OpSelect = "select"
	// OpAdd is the sum of operands of equal shape.
	OpAdd = "add"
	// OpNormalize is y = (x − mean)/std: mean, std (I). A std of 0 counts as 1.
	OpNormalize = "normalize"
	// OpDenormalize is y = x·std + mean: mean, std (I). A std of 0 counts as 1.
	OpDenormalize = "denormalize"
)
