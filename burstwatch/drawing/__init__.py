"""What pictures and pages are drawn with: the colours and the charts."""
