// refused: f: unknown attribute [[thread_position_in_grib]]
kernel void f(device float *a [[buffer(0)]], uint3 gid [[thread_position_in_grib]])
{
	a[gid.x] = 0.0f;
}
