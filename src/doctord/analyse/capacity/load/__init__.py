"""Response against load: queues, how far they are from saturation, and how databases scale."""
