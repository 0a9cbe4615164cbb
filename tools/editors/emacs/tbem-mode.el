;;; tbem-mode.el --- Major mode for tbem programs  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, comments, indentation, a list of declarations, and `tbemc lsp' for eglot.  The words are those of
;; tbem-words.el, which tools/editors/generate makes.  A word such as `pre' or `of' is a word only where a clause
;; begins, or right after an operand, and a name elsewhere; the functions below look where it stands.

;;; Code:

(require 'tbem-words)

(defgroup tbem nil
  "Programs of tbem."
  :group 'languages)

(defcustom tbem-program "tbemc"
  "The compiler, which is also the language server."
  :type 'string)

(defconst tbem-indent 2
  "Columns of a level, as `tbemc fmt' has them.")

(defconst tbem--infix-before "\\(?:[-=<>+*|,:~]\\|\\.\\.=?\\)"
  "What is no operand at the end of what stands before a word.")

(defun tbem--regexp (words)
  "Match any of WORDS as a symbol, in the first group."
  (concat "\\_<" (regexp-opt words t) "\\_>"))

;;; Where a word stands

(defun tbem--innermost ()
  "The bracket around point: a character, or nil outside of all."
  (let ((open (nth 1 (syntax-ppss))))
    (and open (char-after open))))

(defun tbem--at-name-p ()
  "Whether point is behind a word that is a name by what follows."
  (looking-at-p "\\(?:[ \t]*\\(?:=\\(?:[^=>]\\|$\\)\\|:\\|\\.\\(?:[^.]\\|$\\)\\)\\|\\[\\)"))

(defun tbem--skip-back ()
  "Go back over blanks and comments, beyond the beginning of the line."
  (forward-comment (- (point))))

(defun tbem--wants-more-p ()
  "Whether what is before point wants a line to go on with."
  (save-excursion
    (tbem--skip-back)
    (or (and (looking-back tbem--infix-before (max (point-min) (- (point) 3)))
             (not (tbem--enumerator-p)))
        (and (eq (char-before) ?/) (not (nth 4 (syntax-ppss))))
        (save-excursion
          (let ((end (point)))
            (skip-syntax-backward "w_")
            (and (< (point) end) (tbem--wanting-word-p (buffer-substring-no-properties (point) end))))))))

(defun tbem--enumerator-p ()
  "Whether point is behind a member of an enumeration, such as `<north>'."
  (and (eq (char-before) ?>) (looking-back "<[A-Za-z_][A-Za-z0-9_]*>" (line-beginning-position))))

(defun tbem--wanting-word-p (word)
  "Whether WORD, which begins at point, wants something behind it."
  (cond ((member word tbem-words-constants) nil)
        ((member word tbem-words-reserved) t)
        ((member word tbem-words-connectors) (tbem--after-operand-p))))

(defun tbem--clause-begins-p ()
  "Whether a clause or a statement begins at point."
  (let ((line (line-beginning-position)))
    (save-excursion
      (skip-chars-backward " \t")
      (while (and (> (point) line) (eq (char-before) ?/) (eq (char-before (1- (point))) ?*) (forward-comment -1))
        (skip-chars-backward " \t"))
      (cond ((<= (point) line) (not (tbem--wants-more-p)))
            (t (memq (char-before) '(?\; ?{)))))))

(defun tbem--after-operand-p ()
  "Whether an operand ends before point, on its line or, in brackets, before it."
  (save-excursion
    (let ((line (line-beginning-position)) (inside (memq (tbem--innermost) '(?\( ?\[))))
      (tbem--skip-back)
      (and (or inside (>= (point) line))
           (or (memq (char-before) '(?\) ?\] ?} ?\"))
               (tbem--enumerator-p)
               (let ((end (point)))
                 (skip-syntax-backward "w_")
                 (and (< (point) end) (tbem--operand-word-p (buffer-substring-no-properties (point) end)))))))))

(defun tbem--operand-word-p (word)
  "Whether WORD, which begins at point, is an operand there."
  (cond ((member word tbem-words-constants) t)
        ((member word tbem-words-reserved) nil)
        ((and (eq (tbem--innermost) ?{) (tbem--clause-begins-p)) nil)
        ((member word tbem-words-connectors) (not (tbem--after-operand-p)))
        ((tbem--clause-begins-p) (not (or (member word tbem-words-headers) (member word tbem-words-declarations))))
        (t t)))

(defun tbem--search (words limit accept)
  "Look for one of WORDS up to LIMIT that stands where ACCEPT wants it."
  (let ((regexp (tbem--regexp words)) found)
    (while (and (not found) (re-search-forward regexp limit t))
      (let ((state (save-excursion (save-match-data (syntax-ppss (match-beginning 1))))))
        (unless (or (nth 3 state) (nth 4 state))
          (setq found (save-match-data
                        (save-excursion
                          (let ((end (match-end 1)))
                            (goto-char (match-beginning 1))
                            (funcall accept end))))))))
    found))

(defun tbem--matcher (words inside)
  "A matcher of clauses that begin with one of WORDS.
INSIDE: in braces (t), outside of all brackets (nil), or `both'."
  (lambda (limit)
    (tbem--search words limit
                  (lambda (end)
                    (and (pcase inside
                           ('both (memq (tbem--innermost) '(nil ?{)))
                           ('nil (null (tbem--innermost)))
                           (_ (eq (tbem--innermost) ?{)))
                         (tbem--clause-begins-p)
                         (progn (goto-char end) (not (tbem--at-name-p))))))))

(defun tbem--match-connector (limit)
  "Look up to LIMIT for a word that stands right after an operand."
  (tbem--search tbem-words-connectors limit (lambda (_end) (tbem--after-operand-p))))

(defun tbem--match-declaration (limit)
  "Look up to LIMIT for a word that begins a declaration, and for its name."
  (let ((regexp (concat "\\(?:^\\|;\\|\\*/\\)[ \t]*\\(?:private[ \t]+\\)?" (tbem--regexp tbem-words-declarations)
                        "[ \t]+\\(\\(?:\\sw\\|\\s_\\)+\\)"))
        found)
    (while (and (not found) (re-search-forward regexp limit t))
      (let ((state (save-excursion (save-match-data (syntax-ppss (match-beginning 1))))))
        (setq found (and (null (nth 1 state)) (not (nth 3 state)) (not (nth 4 state))
                         (or (equal (match-string 1) "private")
                             (not (member (match-string 2) tbem-words-reserved)))))
        (when (equal (match-string 1) "private") (goto-char (match-end 1)))))
    found))

;;; Colours

(defconst tbem-font-lock-keywords
  `((tbem--match-declaration (1 font-lock-keyword-face) (2 (tbem--name-face) nil t))
    ("^[ \t]*\\(private\\)[ \t]" 1 font-lock-keyword-face)
    (,(tbem--matcher tbem-words-headers nil) 1 font-lock-keyword-face)
    (,(tbem--matcher tbem-words-anywhere 'both) 1 font-lock-keyword-face)
    (,(tbem--matcher tbem-words-bodies t) 1 font-lock-keyword-face)
    (,(tbem--matcher tbem-words-settings t) (1 (if (tbem--in-settings-p) font-lock-builtin-face 'default)))
    (tbem--match-connector 1 font-lock-keyword-face)
    (,(tbem--regexp tbem-words-constants) 1 font-lock-constant-face)
    (,(tbem--regexp tbem-words-reserved) 1 font-lock-keyword-face)
    ("<[A-Za-z_][A-Za-z0-9_]*>" 0 font-lock-constant-face)
    (,(concat "\\(?::[ \t]*\\|\\_<of[ \t]+\\)" (tbem--regexp tbem-words-types) "[^(.]") 1 font-lock-type-face)
    (,(concat (tbem--regexp tbem-words-collections) "[ \t]+of\\_>") 1 font-lock-type-face)
    (,(concat (tbem--regexp tbem-words-functions) "(") 1 font-lock-builtin-face)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*\\)[ \t]*:" 1 font-lock-variable-name-face)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*\\)(" 1 font-lock-function-name-face)
    ("|>[ \t]*\\([A-Za-z_][A-Za-z0-9_]*\\)\\_>" 1 font-lock-function-name-face)
    ("\\_<[0-9][0-9_]*\\(?:\\.[0-9][0-9_]*\\)?\\(?:[eE][-+]?[0-9][0-9_]*\\)?" (0 font-lock-constant-face)
     (,(concat "\\=[ \t]*" (tbem--regexp tbem-words-units)) nil nil (1 font-lock-constant-face))))
  "Rules of colours, the first that applies first.")

(defun tbem--name-face ()
  "The face of the name of a declaration that was just matched."
  (cond ((member (match-string 1) '("private" "tbem")) nil)
        ((member (match-string 1) tbem-words-callables) 'font-lock-function-name-face)
        (t 'font-lock-type-face)))

(defun tbem--in-settings-p ()
  "Whether the body around point is that of an experiment."
  (save-excursion
    (let ((open (car (nth 9 (syntax-ppss)))))
      (when open
        (goto-char open)
        (and (re-search-backward (concat "^[ \t]*\\(?:private[ \t]+\\)?" (tbem--regexp tbem-words-declarations)) nil t)
             (member (match-string 1) tbem-words-experiments))))))

;;; Free text of processes

(defconst tbem--infix
  (concat "[ \t\n]*\\(?:[=<>+*]\\|-[^>]\\||>\\|/[^/*]\\|\\.\\.\\(?:[^.]\\|$\\)"
          "\\|\\_<\\(?:and\\|or\\|div\\|cdiv\\|mod\\)\\_>\\)")
  "What `comment' is a name before.")

(defconst tbem--text-end "^[ \t]*\\(?:ext\\|pre\\|post\\|end_process\\)\\_>\\|;[ \t]*end_process\\_>"
  "What ends the free text of a `comment' clause.")

(defun tbem--in-process-p ()
  "Whether point is in a process."
  (save-excursion
    (and (re-search-backward (concat "\\(?:^\\|;\\)[ \t]*\\(?:private[ \t]+\\)?\\_<process[ \t]+\\(?:\\sw\\|\\s_\\)"
                                     "\\|\\_<end_process\\_>")
                             nil t)
         (not (looking-at-p "end_process")))))

(defun tbem--propertize (start end)
  "Make comments of the free texts of processes between START and END."
  (goto-char start)
  (while (re-search-forward "\\(?:^\\|;\\)[ \t]*\\_<comment\\_>[ \t]*" end t)
    (let ((text (match-end 0))
          (clause (save-excursion (goto-char (match-beginning 0)) (skip-chars-forward "; \t") (point))))
      (unless (or (let ((state (save-excursion (syntax-ppss clause)))) (or (nth 1 state) (nth 8 state)))
                  (not (save-excursion (goto-char clause) (tbem--in-process-p)))
                  (save-excursion (goto-char clause) (tbem--wants-more-p))
                  (looking-at-p tbem--infix))
        (let ((last (save-excursion
                      (goto-char text)
                      (if (re-search-forward tbem--text-end nil t)
                          (match-beginning 0)
                        (line-end-position)))))
          (save-excursion
            (goto-char last)
            (skip-chars-backward "; \t\n" text)
            (setq last (point)))
          (when (< text (1- last))
            (put-text-property text (1+ text) 'syntax-table (string-to-syntax "!"))
            (put-text-property (1+ text) (1- last) 'syntax-table (string-to-syntax "."))
            (put-text-property (1- last) last 'syntax-table (string-to-syntax "!"))
            (put-text-property text last 'syntax-multiline t))
          (goto-char (max last text)))))))

(defun tbem--extend (start end)
  "Let what is looked at between START and END be whole processes."
  (let ((first start) (last end))
    (save-excursion
      (goto-char start)
      (when (tbem--in-process-p)
        (re-search-backward "^[ \t]*\\(?:private[ \t]+\\)?process\\_>" nil t)
        (setq first (line-beginning-position)))
      (goto-char end)
      (when (and (tbem--in-process-p) (re-search-forward "\\_<end_process\\_>" nil t))
        (setq last (point))))
    (unless (and (= first start) (= last end)) (cons first last))))

;;; Indentation

(defconst tbem--continues
  "[-+*=<>|]\\|/[^/*]\\|\\_<\\(?:and\\|or\\|div\\|cdiv\\|mod\\|then\\|else\\|when\\|leaving\\)\\_>"
  "What a line begins with that goes on with the one before.")

(defun tbem-indent-line ()
  "Indent the line by its brackets.
Two columns for each brace; in brackets below what follows the innermost."
  (interactive)
  (let ((column (save-excursion (back-to-indentation) (tbem--column))))
    (when column
      (if (<= (current-column) (current-indentation))
          (indent-line-to column)
        (save-excursion (indent-line-to column))))))

(defun tbem--column ()
  "The column of the line at whose text point is; nil to leave it."
  (let* ((state (syntax-ppss)) (open (nth 1 state)))
    (cond ((nth 8 state) nil)
          ((and open (memq (char-after open) '(?\( ?\[)))
           (save-excursion (goto-char (1+ open)) (skip-chars-forward " \t")
                           (if (eolp) (+ (current-indentation) tbem-indent) (current-column))))
          (open (let ((outer (save-excursion (goto-char open) (current-indentation))))
                  (cond ((looking-at-p "}") outer)
                        ((save-excursion (goto-char open) (tbem--wants-more-p)) (+ outer tbem-indent))
                        ((and (tbem--clause-begins-p) (not (looking-at-p tbem--continues))) (+ outer tbem-indent))
                        (t (max (current-column) (+ outer (* 3 tbem-indent)))))))
          ((looking-at-p "[{}]") 0)
          ((tbem--in-process-p) (if (looking-at-p (tbem--regexp tbem-words-headers)) 0 nil))
          ((save-excursion (skip-syntax-forward "w_") (tbem--at-name-p)) nil)
          ((looking-at-p (tbem--regexp (append tbem-words-headers tbem-words-anywhere))) tbem-indent)
          ((looking-at-p (tbem--regexp (cons "let" tbem-words-declarations))) 0))))

;;; The mode

(defvar tbem-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (dolist (mark '(?+ ?- ?= ?< ?> ?| ?~ ?: ?. ?,)) (modify-syntax-entry mark "." table))
    table)
  "Syntax of `tbem-mode'.")

(defun tbem--syntax-face (state)
  "The face of the comment or string that STATE is in."
  (cond ((nth 3 state) font-lock-string-face)
        ((save-excursion (goto-char (nth 8 state)) (looking-at-p "///")) font-lock-doc-face)
        (t font-lock-comment-face)))

;;;###autoload
(define-derived-mode tbem-mode prog-mode "tbem"
  "Major mode for tbem programs."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "//+[ \t]*\\|/\\*[ \t]*")
  (setq-local indent-line-function #'tbem-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local fill-column 120)
  (setq-local font-lock-defaults
              '(tbem-font-lock-keywords nil nil nil (font-lock-syntactic-face-function . tbem--syntax-face)))
  (setq-local syntax-propertize-function #'tbem--propertize)
  (add-hook 'syntax-propertize-extend-region-functions #'tbem--extend nil t)
  (add-hook 'syntax-propertize-extend-region-functions #'syntax-propertize-multiline nil t)
  (setq-local imenu-generic-expression
              `((nil ,(concat "^[ \t]*\\(?:private[ \t]+\\)?" (tbem--regexp tbem-words-declarations)
                              "[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)")
                     2))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.tbem\\'" . tbem-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               (cons 'tbem-mode (lambda (&rest _) (list tbem-program "lsp")))))

(provide 'tbem-mode)
;;; tbem-mode.el ends here
