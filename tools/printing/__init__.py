"""What `pdf.py` needs: the pages made into one document (book.js, book.css), and the PDF compared with them."""
