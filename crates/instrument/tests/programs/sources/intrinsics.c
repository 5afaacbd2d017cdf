// Masks, indices and sign bits of the processor's own vector instructions.
#include <immintrin.h>
_Alignas(64) char mem[256];
static volatile int on = -1, off = 0;

int main(void) {
    float *m = (float *)mem;
    __m256i mask = _mm256_setr_epi32(on, off, off, on, off, off, off, on);
    // expect: read 0 4
    // expect: read 12 4
    // expect: read 28 4
    __m256 v = _mm256_maskload_ps(m, mask);
    // expect: write 64 4
    // expect: write 76 4
    // expect: write 92 4
    _mm256_maskstore_ps(m + 16, mask, v);
    __m128i wide = _mm_set_epi64x(on, off);
    // expect: write 136 8
    _mm_maskstore_epi64((long long *)(mem + 128), wide, wide);
    __m128i indices = _mm_setr_epi32(-1, 3, 5, 0);
    // expect: read 156 4
    // expect: read 172 4
    // expect: read 180 4
    // expect: read 160 4
    __m128i g = _mm_i32gather_epi32((int *)(mem + 160), _mm_and_si128(indices, _mm_set1_epi32(on)), 4);
    __m128 half = _mm_castsi128_ps(_mm_setr_epi32(off, on, off, on));
    // expect: read 172 4
    // expect: read 160 4
    __m128 h = _mm_mask_i32gather_ps(_mm_setzero_ps(), m + 40, indices, half, 4);
    // expect: write 200 16
    _mm_storeu_si128((__m128i *)(mem + 200), _mm_add_epi32(g, _mm_castps_si128(h)));
    // expect: read 1 16
    __m128i l = _mm_lddqu_si128((__m128i *)(mem + 1));
    // expect: write 33 1
    _mm_maskmoveu_si128(l, _mm_setr_epi8(0, (char)on, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), mem + 32);
    return 0;
}
