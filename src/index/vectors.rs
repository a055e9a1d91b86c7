use crate::embed::Quantized;

/// Collects one vector a document and writes the flat arrays.
///
/// A number is kept in five bits: its sign in one array, its magnitude in 15ths of the vector's largest in another. The signs alone, an eighth of
/// a byte a dimension, tell nearly which vectors are near; the magnitudes are read for those.
#[derive(Default)]
pub struct VectorsBuilder {
    /// A bit a dimension, set where the number is negative; each document begins at a byte.
    pub signs: Vec<u8>,
    /// Half a byte a dimension, the lower half first; each document begins at a byte.
    pub magnitudes: Vec<u8>,
    /// A little-endian `f32` a document: what one step is worth; 0 for a document without a vector.
    pub scales: Vec<u8>,
}

/// Steps from zero to the largest magnitude.
const STEPS: f32 = 15.0;

impl VectorsBuilder {
    /// Adds the next document's vector, all zeros if it has none.
    pub fn add(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        let usable = largest > 0.0 && largest.is_finite();
        let steps = |value: &f32| if usable { (value.abs() * STEPS / largest).round() as u8 } else { 0 };
        for eight in vector.chunks(8) {
            let signs = eight.iter().zip(0..).map(|(value, bit)| u8::from(*value < 0.0) << bit);
            self.signs.push(signs.fold(0, |signs, sign| signs | sign));
        }
        for pair in vector.chunks(2) {
            let nibbles = pair.iter().zip([0, 4]).map(|(value, shift)| steps(value) << shift);
            self.magnitudes.push(nibbles.fold(0, |byte, nibble| byte | nibble));
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
        self.scales.len().checked_mul(self.dimensions.div_ceil(8)) == Some(self.signs.len())
            && self.scales.len().checked_mul(self.dimensions.div_ceil(2)) == Some(self.magnitudes.len())
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

    /// Cosine of one document with a query.
    pub fn similarity(self, document: usize, query: &Probe) -> Option<f32> {
        let signs = piece(self.signs, document, self.dimensions.div_ceil(8))?;
        let magnitudes = piece(self.magnitudes, document, self.dimensions.div_ceil(2))?;
        let scale = f32::from_le_bytes(*self.scales.get(document)?);
        let (eights, _) = query.values.as_chunks::<8>();
        let mut sum = 0i32;
        // The query is padded with zeros to whole eights, so what a last half byte holds besides counts for nothing.
        for ((query, signs), magnitudes) in eights.iter().zip(signs).zip(magnitudes.chunks(4)) {
            let [a, b, c, d] = match magnitudes.first_chunk::<4>() {
                Some(four) => *four,
                None => std::array::from_fn(|at| magnitudes.get(at).copied().unwrap_or(0)),
            };
            let steps = [a & 15, a >> 4, b & 15, b >> 4, c & 15, c >> 4, d & 15, d >> 4];
            let mut part = 0i32;
            for (bit, (value, steps)) in query.iter().zip(steps).enumerate() {
                let negative = -i16::from(signs >> bit & 1);
                part += i32::from((i16::from(steps) ^ negative) - negative) * i32::from(*value);
            }
            sum += part;
        }
        // A damaged scale must not order results by a NaN.
        let cosine = sum as f32 * scale * query.scale;
        Some(if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 })
    }

    /// The documents that `sees` lets through and whose signs agree best with the query's, about `most` of them and never fewer where there
    /// are as many, in order of document. `distances` is a buffer.
    pub fn nearly(self, query: &Probe, most: usize, sees: impl Fn(u32) -> bool, distances: &mut Vec<u16>) -> Vec<u32> {
        let width = self.dimensions.div_ceil(8);
        let worst = 3 * self.dimensions;
        distances.clear();
        if width == 0 || worst >= usize::from(UNSEEN) {
            return (0..self.len() as u32).filter(|document| sees(*document)).collect();
        }
        let mut histogram = vec![0usize; worst + 1];
        for (document, signs) in (0u32..).zip(self.signs.chunks_exact(width)) {
            let distance = if sees(document) { query.distance(signs) } else { UNSEEN };
            if let Some(count) = histogram.get_mut(usize::from(distance)) {
                *count += 1;
            }
            distances.push(distance);
        }
        let mut seen = 0;
        let reaches = histogram.iter().position(|count| {
            seen += count;
            seen >= most
        });
        let bound = reaches.unwrap_or(worst) as u16;
        let near = (0u32..).zip(distances.iter()).filter(|(_, distance)| **distance <= bound);
        near.map(|(document, _)| document).collect()
    }
}

/// The distance of a document that may not be seen.
const UNSEEN: u16 = u16::MAX;

fn piece(bytes: &[u8], document: usize, width: usize) -> Option<&[u8]> {
    let start = document.checked_mul(width)?;
    bytes.get(start..start.checked_add(width)?)
}

/// A query's vector, laid out for comparison with those of [`Vectors`].
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// A byte a dimension, padded with zeros to a multiple of eight.
    values: Vec<i8>,
    scale: f32,
    /// For each 64 dimensions: signs, and the two bits of a weight from 0 to 3 that tells how much a dimension's sign matters.
    planes: Vec<[u64; 3]>,
}

impl Probe {
    /// Lays a vector out.
    pub fn new(vector: &Quantized) -> Probe {
        let mut values = vector.values.clone();
        values.resize(values.len().next_multiple_of(8), 0);
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
        Probe { planes: planes.collect(), values, scale: vector.scale }
    }

    /// Weights of the dimensions in which a vector's sign differs, added up.
    fn distance(&self, signs: &[u8]) -> u16 {
        let (words, rest) = signs.as_chunks::<8>();
        let mut distance = 0;
        let mut planes = self.planes.iter();
        for (word, [sign, low, high]) in words.iter().zip(planes.by_ref()) {
            let differs = u64::from_le_bytes(*word) ^ sign;
            distance += (differs & low).count_ones() + 2 * (differs & high).count_ones();
        }
        if let (false, Some([sign, low, high])) = (rest.is_empty(), planes.next()) {
            let word = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            distance += ((word ^ sign) & low).count_ones() + 2 * ((word ^ sign) & high).count_ones();
        }
        distance as u16
    }
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
            let near = view(&builder, 20).nearly(&probe, most, odd, &mut Vec::new());
            proptest::prop_assert!(near.len() >= most.min(vectors.len() / 2));
            proptest::prop_assert!(near.iter().all(|document| odd(*document)) && near.is_sorted());
        }
    }

    #[test]
    fn a_vector_is_nearest_to_itself() {
        let vectors: Vec<Vec<f32>> =
            (0..50).map(|seed| unit((0..100).map(|at| ((at * 37 + seed * 91) % 97) as f32 - 48.0).collect())).collect();
        let builder = build(&vectors);
        for (at, vector) in vectors.iter().enumerate() {
            let near = view(&builder, 100).nearly(&Probe::new(&quantize(vector)), 1, |_| true, &mut Vec::new());
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
