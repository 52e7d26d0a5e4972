package netruntime

// archGraph is a network whose file carries its graph.
const archGraph = "graph"

// Graph is a network as a list of operations. Every value is an array (batch,
// length, channels) of float32; the batch and the length are chosen at each
// run. A file of arch "graph" carries it as JSON.
type Graph struct {
	Inputs  []Input  `json:"inputs"`
	Nodes   []Node   `json:"nodes"`   // in an order in which every operand comes before its use
	Outputs []string `json:"outputs"` // names of inputs or nodes
}

// Input is a value that the caller gives.
type Input struct {
	Name     string `json:"name"`
	Channels int    `json:"channels"`
	// Once says that the value has length 1 whatever the run's length is, such
	// as the state of a recurrent layer.
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
	Factor  int    `json:"factor,omitempty"`  // OpDepool: how many times as long the result is, 2 to 16; 0 is 2

	// Tensors renames the node's tensors: from the role, such as "weight", to
	// the tensor's name. Without an entry that is "<node>.<role>". Nodes may
	// share tensors.
	Tensors map[string]string `json:"tensors,omitempty"`
}

// maxFactor bounds Node.Factor.
const maxFactor = 16

// Times returns by how much an OpDepool lengthens.
func (n *Node) Times() int {
	if n.Factor == 0 {
		return 2
	}
	return n.Factor
}

// The operations, with their operands x, … and the tensors by role. I and O
// are channels of the operand and of the result.
const (
	// OpDense is y = act(x·Wᵀ + b) at every frame: weight (O, I), bias (O).
	OpDense = "dense"
	// OpBlend is a dense layer whose weights are a mixture, another one at
	// every frame: y = act(Σ_k ω_k (W_k·x + b_k)) of x and ω (K channels):
	// weight (K, O, I), bias (K, O).
	OpBlend = "blend"
	// OpConv is a convolution over time that keeps the length: weight (O, I, W),
	// bias (O); y[t] = act(b + Σ_w W[:, :, w]·x[t + w − (W−1)/2]) with zeros
	// outside, and W−1−w in place of w in the weight where Flip.
	OpConv = "conv"
	// OpMaxPool halves the length: the larger of each pair of frames.
	OpMaxPool = "max_pool"
	// OpDepool lengthens by Factor: of each frame's value an equal share to each
	// of so many, half to each of two.
	OpDepool = "depool"
	// OpLSTM is a long short-term memory of x and optionally of the first state
	// h, c (length 1): weight (4H, I), recurrent (4H, H), bias (4H), gates in
	// the order input, forget, cell, output. The result is h at every frame;
	// the values "<node>.h" and "<node>.c" are the last state, of length 1.
	OpLSTM = "lstm"
	// OpBatchNorm is y = act((x − mean)/√(var + 1e-5)·gamma + beta): gamma,
	// beta, mean, var (I).
	OpBatchNorm = "batch_norm"
	// OpAct applies Act.
	OpAct = "act"
	// OpSoftmax is over the channels.
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
