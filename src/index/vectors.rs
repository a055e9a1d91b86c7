use crate::embed::{Quantized, largest, round};

/// Collects one vector a document and writes the flat arrays.
///
/// A number is kept in five bits: its sign in one array, its magnitude in 15ths of the vector's largest in another. The signs alone, an eighth of
/// a byte a dimension, tell nearly which vectors are near; the magnitudes are read for those. A vector is filled up with zeros to whole blocks of 32.
#[derive(Default)]
pub struct VectorsBuilder {
    /// Four bytes a block: a bit a dimension, set where the number is negative.
    pub signs: Vec<u8>,
    /// Sixteen bytes a block: the lower halves are the first sixteen dimensions, the upper halves the others.
    pub magnitudes: Vec<u8>,
    /// A little-endian `f32` a document: what one step is worth; 0 for a document without a vector.
    pub scales: Vec<u8>,
}

/// Steps from zero to the largest magnitude.
const STEPS: f32 = 15.0;

impl VectorsBuilder {
    /// Adds the next document's vector, all zeros if it has none.
    pub fn add(&mut self, vector: &[f32]) {
        let largest = largest(vector);
        let usable = largest > 0.0 && largest.is_finite();
        for block in vector.chunks(BLOCK) {
            let (mut signs, mut steps) = (0u32, [0u8; BLOCK]);
            for ((value, step), bit) in block.iter().zip(&mut steps).zip(0..) {
                signs |= u32::from(*value < 0.0) << bit;
                *step = if usable { round(value.abs() * STEPS / largest) as u8 } else { 0 };
            }
            self.signs.extend_from_slice(&signs.to_le_bytes());
            let (lower, upper) = steps.split_at(BLOCK / 2);
            self.magnitudes.extend(lower.iter().zip(upper).map(|(lower, upper)| lower | upper << 4));
        }
        let scale = if usable { largest / STEPS } else { 0.0 };
        self.scales.extend_from_slice(&scale.to_le_bytes());
    }
}

/// Quantized vectors read in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vectors<'a> {
    signs: &'a [u8],
    magnitudes: &'a [u8],
    scales: &'a [[u8; 4]],
    dimensions: usize,
}

impl<'a> Vectors<'a> {
    /// The vectors in the three arrays of [`VectorsBuilder`].
    pub fn new(signs: &'a [u8], magnitudes: &'a [u8], scales: &'a [u8], dimensions: usize) -> Self {
        Vectors { signs, magnitudes, scales: scales.as_chunks().0, dimensions }
    }

    /// Whether the arrays fit together in length.
    pub fn is_consistent(self) -> bool {
        let blocks = self.scales.len().checked_mul(self.blocks());
        blocks.and_then(|blocks| blocks.checked_mul(SIGNS)) == Some(self.signs.len())
            && blocks.and_then(|blocks| blocks.checked_mul(MAGNITUDES)) == Some(self.magnitudes.len())
    }

    /// Number of documents.
    pub fn len(self) -> usize {
        self.scales.len()
    }

    /// Whether there are no vectors.
    pub fn is_empty(self) -> bool {
        self.scales.is_empty()
    }

    /// Length of each vector.
    pub fn dimensions(self) -> usize {
        self.dimensions
    }

    fn blocks(self) -> usize {
        self.dimensions.div_ceil(BLOCK)
    }

    /// Cosine of one document with a query.
    pub fn similarity(self, document: usize, query: &Probe) -> Option<f32> {
        let signs = piece(self.signs, document, self.blocks() * SIGNS)?;
        let magnitudes = piece(self.magnitudes, document, self.blocks() * MAGNITUDES)?;
        let scale = f32::from_le_bytes(*self.scales.get(document)?);
        let sum = dot(signs.as_chunks().0, magnitudes.as_chunks().0, &query.values);
        // A damaged scale must not order results by a NaN.
        let cosine = sum as f32 * scale * query.scale;
        Some(if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 })
    }

    /// The documents, each with its cosine with a query; 0 for one that is not there.
    pub fn similarities<'d>(self, documents: &'d [u32], query: &'d Probe) -> impl Iterator<Item = (u32, f32)> + 'd
    where
        'a: 'd,
    {
        documents.chunks(TOGETHER).flat_map(move |chunk| {
            self.touch(chunk);
            let similarity = move |document: &u32| self.similarity(*document as usize, query).unwrap_or(0.0);
            chunk.iter().map(move |document| (*document, similarity(document)))
        })
    }

    /// Reads a byte of each line of memory that the vectors of these documents lie in. They lie far apart, and the reads wait for memory together
    /// rather than one after the other.
    fn touch(self, documents: &[u32]) {
        let width = self.blocks() * MAGNITUDES;
        let mut read = 0u8;
        for document in documents {
            let vector = piece(self.magnitudes, *document as usize, width).unwrap_or(&[]);
            for line in vector.chunks(LINE) {
                read ^= line.first().unwrap_or(&0);
            }
            read ^= vector.last().unwrap_or(&0);
        }
        std::hint::black_box(read);
    }

    /// The documents that `sees` lets through, or all, whose signs agree best with the query's: about `most` of them and never fewer where there are
    /// as many, in order of document.
    pub fn nearly<'n>(
        self,
        query: &Probe,
        most: usize,
        sees: Option<&dyn Fn(u32) -> bool>,
        Nearly { distances, histogram, near }: &'n mut Nearly,
    ) -> &'n [u32] {
        near.clear();
        let width = self.blocks() * SIGNS;
        let worst = 3 * self.dimensions;
        if width == 0 || worst >= usize::from(UNSEEN) {
            near.extend((0..self.len() as u32).filter(|document| sees.is_none_or(|sees| sees(*document))));
            return near;
        }
        histogram.clear();
        histogram.resize(worst + 1, 0);
        distances.clear();
        query.distances(self.signs, width, distances, histogram);
        if let Some(sees) = sees {
            for (distance, _) in distances.iter_mut().zip(0..).filter(|(_, document)| !sees(*document)) {
                if let Some(count) = histogram.get_mut(usize::from(*distance)) {
                    *count -= 1;
                }
                *distance = UNSEEN;
            }
        }
        let mut seen = 0;
        let reaches = histogram.iter().position(|count| {
            seen += *count as usize;
            seen >= most
        });
        let bound = reaches.unwrap_or(worst) as u16;
        let (blocks, rest) = distances.as_chunks();
        for (block, first) in blocks.iter().zip((0..).step_by(DISTANCES)) {
            let mut within = within(block, bound);
            while within != 0 {
                near.push(first + within.trailing_zeros());
                within &= within - 1;
            }
        }
        let first = (distances.len() - rest.len()) as u32;
        near.extend((first..).zip(rest).filter(|(_, distance)| **distance <= bound).map(|(document, _)| document));
        near
    }
}

/// What [`Vectors::nearly`] writes in, kept from one search to the next.
#[derive(Debug, Default)]
pub struct Nearly {
    distances: Vec<u16>,
    /// How many documents there are of each distance.
    histogram: Vec<u32>,
    near: Vec<u32>,
}

/// Documents whose vectors are fetched together.
const TOGETHER: usize = 8;
/// Bytes of a line of memory, on nearly every machine.
const LINE: usize = 64;

/// Distances that are looked at together.
const DISTANCES: usize = 16;

/// A bit for each distance up to the bound.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn within(distances: &[u16; DISTANCES], bound: u16) -> u32 {
    distances.iter().zip(0..).fold(0, |within, (distance, at)| within | u32::from(*distance <= bound) << at)
}

/// The same, eight distances at a time.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn within(distances: &[u16; DISTANCES], bound: u16) -> u32 {
    use core::arch::wasm32::*;

    let bounds = u16x8_splat(bound);
    let ([first, second], _) = distances.as_chunks::<8>() else { return 0 };
    let compare = |[a, b, c, d, e, f, g, h]: &[u16; 8]| u16x8_le(u16x8(*a, *b, *c, *d, *e, *f, *g, *h), bounds);
    u32::from(i8x16_bitmask(i8x16_narrow_i16x8(compare(first), compare(second))))
}

/// The distance of a document that may not be seen.
const UNSEEN: u16 = u16::MAX;

fn piece(bytes: &[u8], document: usize, width: usize) -> Option<&[u8]> {
    let start = document.checked_mul(width)?;
    bytes.get(start..start.checked_add(width)?)
}

/// Dimensions that are compared together.
const BLOCK: usize = 32;
/// Bytes of signs in a block.
const SIGNS: usize = 4;
/// Bytes of magnitudes in a block.
const MAGNITUDES: usize = 16;

/// Inner product of a query with a vector in steps.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn dot(signs: &[[u8; SIGNS]], magnitudes: &[[u8; MAGNITUDES]], query: &[[i16; BLOCK]]) -> i32 {
    let mut sum = 0;
    for ((signs, magnitudes), query) in signs.iter().zip(magnitudes).zip(query) {
        let signs = u32::from_le_bytes(*signs);
        let (lower, upper) = query.split_at(BLOCK / 2);
        for (bit, (pair, (lower, upper))) in magnitudes.iter().zip(lower.iter().zip(upper)).enumerate() {
            // Without a branch, the compiler takes many lanes at a time.
            let turned = |product: i32, bit: usize| {
                let negative = -i32::from(signs & 1 << bit != 0);
                (product ^ negative) - negative
            };
            sum += turned(i32::from(pair & 15) * i32::from(*lower), bit);
            sum += turned(i32::from(pair >> 4) * i32::from(*upper), bit + BLOCK / 2);
        }
    }
    sum
}

/// The same, sixteen dimensions at a time.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn dot(signs: &[[u8; SIGNS]], magnitudes: &[[u8; MAGNITUDES]], query: &[[i16; BLOCK]]) -> i32 {
    use core::arch::wasm32::*;

    fn load(bytes: &[u8; 16]) -> v128 {
        // SAFETY: a reference to sixteen bytes may be read for sixteen bytes, and wasm reads at any alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    fn load_eight(numbers: &[i16; 8]) -> v128 {
        // SAFETY: eight numbers of two bytes are sixteen bytes; otherwise as above.
        unsafe { v128_load(numbers.as_ptr().cast()) }
    }

    let bits = u8x16(1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128);
    let mut sums = i32x4_splat(0);
    for ((signs, magnitudes), query) in signs.iter().zip(magnitudes).zip(query) {
        let ([first, second, third, fourth], _) = query.as_chunks::<8>() else { break };
        let signs = u32x4_splat(u32::from_le_bytes(*signs));
        let magnitudes = load(magnitudes);
        // All ones in the lanes whose bit is set: what is turned round and one less is the negative.
        let lower = v128_and(i8x16_shuffle::<0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1>(signs, signs), bits);
        let upper = v128_and(i8x16_shuffle::<2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3>(signs, signs), bits);
        let (lower, upper) = (i8x16_eq(lower, bits), i8x16_eq(upper, bits));
        let lower = i8x16_sub(v128_xor(v128_and(magnitudes, u8x16_splat(15)), lower), lower);
        let upper = i8x16_sub(v128_xor(v128_and(u16x8_shr(magnitudes, 4), u8x16_splat(15)), upper), upper);
        let products = i32x4_add(
            i32x4_add(
                i32x4_dot_i16x8(i16x8_extend_low_i8x16(lower), load_eight(first)),
                i32x4_dot_i16x8(i16x8_extend_high_i8x16(lower), load_eight(second)),
            ),
            i32x4_add(
                i32x4_dot_i16x8(i16x8_extend_low_i8x16(upper), load_eight(third)),
                i32x4_dot_i16x8(i16x8_extend_high_i8x16(upper), load_eight(fourth)),
            ),
        );
        sums = i32x4_add(sums, products);
    }
    i32x4_extract_lane::<0>(sums)
        + i32x4_extract_lane::<1>(sums)
        + i32x4_extract_lane::<2>(sums)
        + i32x4_extract_lane::<3>(sums)
}

/// A query's vector, laid out for comparison with those of [`Vectors`].
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Blocks of 32 dimensions, filled up with zeros.
    values: Vec<[i16; BLOCK]>,
    scale: f32,
    /// For each 64 dimensions: signs, and the two bits of a weight from 0 to 3 that tells how much a dimension's sign matters.
    planes: Vec<[u64; 3]>,
}

impl Probe {
    /// Lays a vector out.
    pub fn new(vector: &Quantized) -> Probe {
        let mut values = vector.values.clone();
        values.resize(values.len().next_multiple_of(BLOCK), 0);
        let largest = values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0).max(1);
        let planes = values.chunks(64).map(|chunk| {
            let mut planes = [0u64; 3];
            for (value, bit) in chunk.iter().zip(0..) {
                let weight = (3 * u16::from(value.unsigned_abs()) + u16::from(largest) / 2) / u16::from(largest);
                let bits = [u64::from(*value < 0), u64::from(weight & 1), u64::from(weight >> 1)];
                planes.iter_mut().zip(bits).for_each(|(plane, set)| *plane |= set << bit);
            }
            planes
        });
        let planes = planes.collect();
        let values: Vec<i16> = values.into_iter().map(i16::from).collect();
        let values = values.as_chunks().0.to_vec();
        Probe { planes, values, scale: vector.scale }
    }

    /// For each of the vectors whose signs these are, `width` bytes each, the weights of the dimensions in which they differ, added up; and how many
    /// there are of each sum.
    fn distances(&self, signs: &[u8], width: usize, out: &mut Vec<u16>, histogram: &mut [u32]) {
        /// Vectors of one call: a WebAssembly engine goes over to optimized code only between two.
        const CALL: usize = 1024;
        out.reserve(signs.len() / width);
        signs.chunks(CALL * width).for_each(|signs| self.distances_of(signs, width, out, histogram));
    }

    #[inline(never)]
    fn distances_of(&self, signs: &[u8], width: usize, out: &mut Vec<u16>, histogram: &mut [u32]) {
        let mut counted = |distance: u32| {
            if let Some(count) = histogram.get_mut(distance as usize) {
                *count += 1;
            }
            distance as u16
        };
        match self.planes.as_slice().try_into() {
            Ok(planes) if width == 8 * COMMON => {
                let vectors = signs.as_chunks::<8>().0.as_chunks::<COMMON>().0;
                out.extend(vectors.iter().map(|words| counted(distance::<COMMON>(words, planes))));
            }
            _ => out.extend(signs.chunks_exact(width).map(|signs| {
                let words = signs.chunks(8).zip(&self.planes).map(|(bytes, planes)| {
                    let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                    differing(word, planes)
                });
                counted(words.sum())
            })),
        }
    }
}

/// Words of 64 signs in a vector of the default embedder.
const COMMON: usize = 6;

fn distance<const WORDS: usize>(words: &[[u8; 8]; WORDS], planes: &[[u64; 3]; WORDS]) -> u32 {
    words.iter().zip(planes).map(|(word, planes)| differing(u64::from_le_bytes(*word), planes)).sum()
}

fn differing(word: u64, [sign, low, high]: &[u64; 3]) -> u32 {
    let differs = word ^ sign;
    (differs & low).count_ones() + 2 * (differs & high).count_ones()
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;
    use crate::embed::{dot, normalize, quantize};

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        normalize(&mut vector);
        vector
    }

    fn build(vectors: &[Vec<f32>]) -> VectorsBuilder {
        let mut builder = VectorsBuilder::default();
        vectors.iter().for_each(|vector| builder.add(vector));
        builder
    }

    fn view(builder: &VectorsBuilder, dimensions: usize) -> Vectors<'_> {
        Vectors::new(&builder.signs, &builder.magnitudes, &builder.scales, dimensions)
    }

    proptest::proptest! {
        #[test]
        fn five_bits_keep_cosines_close(
            pair in (1usize..400).prop_flat_map(|length| proptest::collection::vec(proptest::collection::vec(-1f32..1.0, length), 2)),
        ) {
            let pair: Vec<Vec<f32>> = pair.into_iter().map(unit).collect();
            let builder = build(&pair);
            let vectors = view(&builder, pair[0].len());
            proptest::prop_assert!(vectors.is_consistent());
            let probe = Probe::new(&quantize(&pair[0]));
            let cosine = vectors.similarity(1, &probe).unwrap();
            proptest::prop_assert!((cosine - dot(&pair[0], &pair[1])).abs() < 0.06, "{} {}", cosine, dot(&pair[0], &pair[1]));
        }

        #[test]
        fn as_many_as_asked_for_are_near(
            vectors in proptest::collection::vec(proptest::collection::vec(-1f32..1.0, 20), 1..40),
            most in 0usize..50,
        ) {
            let vectors: Vec<Vec<f32>> = vectors.into_iter().map(unit).collect();
            let builder = build(&vectors);
            let probe = Probe::new(&quantize(&vectors[0]));
            let odd = |document: u32| document % 2 == 1;
            let mut buffers = Nearly::default();
            let near = view(&builder, 20).nearly(&probe, most, Some(&odd), &mut buffers);
            proptest::prop_assert!(near.len() >= most.min(vectors.len() / 2));
            proptest::prop_assert!(near.iter().all(|document| odd(*document)) && near.is_sorted());
            let all = view(&builder, 20).nearly(&probe, most, None, &mut buffers);
            proptest::prop_assert!(all.len() >= most.min(vectors.len()) && all.is_sorted());
            let one_by_one = |document: &u32| (*document, view(&builder, 20).similarity(*document as usize, &probe).unwrap());
            let together: Vec<(u32, f32)> = view(&builder, 20).similarities(all, &probe).collect();
            proptest::prop_assert_eq!(together, all.iter().map(one_by_one).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_vector_is_nearest_to_itself() {
        let vectors: Vec<Vec<f32>> =
            (0..50).map(|seed| unit((0..100).map(|at| ((at * 37 + seed * 91) % 97) as f32 - 48.0).collect())).collect();
        let builder = build(&vectors);
        for (at, vector) in vectors.iter().enumerate() {
            let mut buffers = Nearly::default();
            let near = view(&builder, 100).nearly(&Probe::new(&quantize(vector)), 1, None, &mut buffers);
            assert!(near.contains(&(at as u32)), "{at}: {near:?}");
        }
    }

    #[test]
    fn a_document_without_a_vector_is_like_nothing() {
        let builder = build(&[vec![0.0; 9], vec![1.0; 9]]);
        let probe = Probe::new(&quantize(&[1.0; 9]));
        assert_eq!(view(&builder, 9).similarity(0, &probe), Some(0.0));
        assert_eq!(view(&builder, 9).similarity(1, &probe), Some(1.0));
        assert_eq!(view(&builder, 9).similarity(2, &probe), None);
    }
}
