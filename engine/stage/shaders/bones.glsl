// One row of Bones per character: three texels per joint, the rows of its 3×4
// skinning matrix, then one texel of coat or shirt colour and one of the character's
// variation. Order lists the rows that this draw call shows, starting at Base.
uniform sampler2D Bones;
uniform isampler2D Order;
uniform int Base;
uniform int Joints;

int character() {
	int i = Base + gl_InstanceID;
	return texelFetch(Order, ivec2(i % 1024, i / 1024), 0).r;
}

// skin adds up the joints' matrices by weight.
mat4x3 skin(int row, vec4 joint, vec4 weight) {
	vec4 a = vec4(0.0), b = vec4(0.0), c = vec4(0.0);
	for (int k = 0; k < 4 && weight[k] > 0.0; k++) { // largest weights come first
		int x = int(joint[k]) * 3;
		a += weight[k] * texelFetch(Bones, ivec2(x, row), 0);
		b += weight[k] * texelFetch(Bones, ivec2(x + 1, row), 0);
		c += weight[k] * texelFetch(Bones, ivec2(x + 2, row), 0);
	}
	return transpose(mat3x4(a, b, c));
}
