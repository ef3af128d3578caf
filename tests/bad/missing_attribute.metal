// refused: f: argument without an attribute
kernel void f(device float *a [[buffer(0)]], uint3 gid)
{
	a[gid.x] = 0.0f;
}
