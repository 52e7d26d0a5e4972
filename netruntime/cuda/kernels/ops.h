/* The operations as the kernels read them from device memory. C, C++, CUDA and
 * Go (through cgo) share these declarations: every field has 8 bytes. An array
 * is float32 or an operand of products, (rows, channels), with a number of
 * elements from one row to the next. */
#ifndef MANNEQUIN_OPS_H
#define MANNEQUIN_OPS_H

typedef unsigned long long address; /* of device memory, 0 is none */

/* How an array's elements are stored. */
enum { NOTHING, FLOAT32, TF32, BF16 };

/* A place that a result is stored to: element c of row r of a frame is element
 * r*row + frame*step + c. */
struct sink {
	address at;
	long long type, row, step;
};

/* A value can be stored as float32, and as an operand in two types. */
enum { SINKS = 3 };

/* An elementwise function, of a kind below. */
enum { ACTIVATE, AFFINE, NORMALIZE, SKIP }; /* act(x), x*scale + rest, (x - rest)*scale, x or 0 below rest */
enum { IDENTITY, ELU, RELU, SIGMOID, TANH };

struct point {
	long long kind, act;
	address scale, rest; /* (columns, rounded up to 4) */
};

enum { POINTS = 4 };

/* A batched matrix product, its left side the window of frames that a row sees:
 *
 *   y = points(sum over segments s of w_s * (A_s x B_s + bias_s))
 *
 * The segments are the experts of a blend (one A, weights w = omega), or the
 * input and the state of an LSTM (two As, no weights); else there is one. */
enum { SOURCES = 2 };

struct source {
	address at;
	long long row, step; /* elements between rows, and between frames */
	long long k;         /* columns of a row's window */
	long long steps;     /* k in steps of the product's depth, rounded up */
};

struct product {
	long long sources, segments;
	struct source source[SOURCES];
	/* Of the first source: rows belong to sequences of frames, and a row's
	 * window begins some frames before it. Outside of a sequence are zeros. */
	long long frames, before, channels;
	address b;            /* (steps of all segments, columns, depth), in 64 bytes a column */
	long long n, columns; /* of the result; rounded up to a multiple of 128 */
	address bias;         /* (segments, columns) */
	address omega;        /* (rows, segments) or 0 */
	long long points;
	struct point point[POINTS];
	struct sink sink[SINKS];
};

/* A small operation on rows, of a kind below, on arrays of float32. */
enum {
	ZERO,
	COPY,     /* y[c] = x[column[c]], or x[c] where there are no columns */
	POINT,    /* y = point(x) */
	ADD,      /* y = x + x2 */
	DENSE,    /* y = W x + b */
	SOFTMAX,  /* over the channels */
	MAX_POOL, /* the larger of rows 2r and 2r+1 of x */
	DEPOOL,   /* half of row r/2 of x */
	LSTM      /* of gates x (4 width) and state c: a new c, and y = h */
};

struct light {
	long long kind, width; /* channels of y */
	struct sink x, x2;     /* read from; x2 of LSTM: c, which it updates */
	address column;        /* long long (width), of COPY */
	struct point point;
	long long inputs;      /* DENSE: channels of x */
	address w, b;          /* DENSE: (inputs, width), (width) */
	struct sink sink[SINKS];
};

#endif
