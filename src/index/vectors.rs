use crate::embed::{Quantized, dot_i8, quantize};

/// Collects one vector a document and writes the flat arrays.
#[derive(Default)]
pub struct VectorsBuilder {
    /// `dimensions` signed bytes a document.
    pub values: Vec<u8>,
    /// A little-endian `f32` a document: what one step is worth; 0 for a document without a vector.
    pub scales: Vec<u8>,
}

impl VectorsBuilder {
    /// Adds the next document's vector, all zeros if it has none.
    pub fn add(&mut self, vector: &[f32]) {
        let quantized = quantize(vector);
        self.values.extend(quantized.values.iter().map(|value| *value as u8));
        self.scales.extend_from_slice(&quantized.scale.to_le_bytes());
    }

    /// Adds `weight` times a document's vector to `sum`, as exactly as one byte a dimension tells it.
    pub fn add_to(&self, document: usize, weight: f32, sum: &mut [f32]) {
        let scale = self.scales.as_chunks::<4>().0.get(document).map_or(0.0, |scale| f32::from_le_bytes(*scale));
        let values = self.values.chunks_exact(sum.len().max(1)).nth(document).unwrap_or(&[]);
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum += weight * scale * f32::from(*value as i8);
        }
    }
}

/// Quantized vectors read in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vectors<'a> {
    values: &'a [u8],
    scales: &'a [[u8; 4]],
    dimensions: usize,
}

impl<'a> Vectors<'a> {
    /// The vectors in the two arrays of [`VectorsBuilder`].
    pub fn new(values: &'a [u8], scales: &'a [u8], dimensions: usize) -> Self {
        Vectors { values, scales: scales.as_chunks().0, dimensions }
    }

    /// Whether the arrays fit together in length.
    pub fn is_consistent(self) -> bool {
        self.scales.len().checked_mul(self.dimensions) == Some(self.values.len())
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

    /// Cosine of each document with `query`, in order of document.
    pub fn similarities(self, query: &'a Quantized) -> impl Iterator<Item = f32> + 'a {
        self.values
            .chunks_exact(self.dimensions.max(1))
            .zip(self.scales)
            .map(move |(values, scale)| cosine(values, f32::from_le_bytes(*scale), query))
    }

    /// Cosine of one document with `query`.
    pub fn similarity(self, document: usize, query: &Quantized) -> Option<f32> {
        let start = document.checked_mul(self.dimensions)?;
        let values = self.values.get(start..start.checked_add(self.dimensions)?)?;
        Some(cosine(values, f32::from_le_bytes(*self.scales.get(document)?), query))
    }

    /// The vector of one document with its scale.
    pub fn vector(self, document: usize) -> Option<Quantized> {
        let start = document.checked_mul(self.dimensions)?;
        let values = self.values.get(start..start.checked_add(self.dimensions)?)?;
        let scale = f32::from_le_bytes(*self.scales.get(document)?);
        Some(Quantized { values: values.iter().map(|value| *value as i8).collect(), scale })
    }
}

fn cosine(values: &[u8], scale: f32, query: &Quantized) -> f32 {
    // A damaged scale must not order results by a NaN.
    let cosine = dot_u8(values, &query.values) as f32 * scale * query.scale;
    if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
}

/// [`dot_i8`] where the left side is stored as plain bytes.
fn dot_u8(stored: &[u8], query: &[i8]) -> i32 {
    let (stored_lanes, stored_rest) = stored.as_chunks::<16>();
    let (query_lanes, query_rest) = query.as_chunks::<16>();
    let mut sum = 0i32;
    for (stored, query) in stored_lanes.iter().zip(query_lanes) {
        sum += dot_i8(&stored.map(|byte| byte as i8), query);
    }
    sum + stored_rest.iter().zip(query_rest).map(|(a, b)| i32::from(*a as i8) * i32::from(*b)).sum::<i32>()
}
