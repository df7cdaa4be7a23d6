C@ f2c
      SUBROUTINE TRED2R(NM,N,Z,D,E)
C     THE REDUCTION TO TRIDIAGONAL FORM, THE STEP OF ONE ROW
      INTEGER NM,N,J,K,L
      DOUBLE PRECISION Z(NM,N),D(N),E(N),F,G,H
      L = N - 1
      H = D(N)
C@ begin n=512 nm=512
      F = 0.0D0
      DO 240 J = 1,L
         Z(J,N) = D(J)
         G = E(J) + Z(J,J)*D(J)
         DO 200 K = J + 1,L
            G = G + Z(K,J)*D(K)
            E(K) = E(K) + Z(K,J)*D(J)
  200    CONTINUE
         E(J) = G
  240 CONTINUE
      DO 245 J = 1,L
         E(J) = E(J)/H
         F = F + E(J)*D(J)
  245 CONTINUE
C@ end
      D(N) = F
      RETURN
      END
      SUBROUTINE TRED2U(NM,L,Z,D,E)
C     ITS RANK-2 UPDATE
      INTEGER NM,L,J,K
      DOUBLE PRECISION Z(NM,*),D(*),E(*),F,G
C@ begin l=1024 nm=1024
      DO 280 J = 1,L
         F = D(J)
         G = E(J)
         DO 260 K = J,L
            Z(K,J) = Z(K,J) - F*E(K) - G*D(K)
  260    CONTINUE
  280 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE TRED2B(NM,N,Z,D)
C     THE TRANSFORMATIONS ACCUMULATED, THE STEP OF ONE COLUMN
      INTEGER NM,N,J,K,L
      DOUBLE PRECISION Z(NM,*),D(*),G
      L = N - 1
C@ begin n=1024 nm=1024
      DO 360 J = 1,L
         G = 0.0D0
         DO 340 K = 1,L
            G = G + Z(K,N)*Z(K,J)
  340    CONTINUE
         DO 350 K = 1,L
            Z(K,J) = Z(K,J) - G*D(K)
  350    CONTINUE
  360 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE BALAN1(NM,N,A,C,R)
C     NORMS OF ROWS AND COLUMNS WITHOUT THE DIAGONAL
      INTEGER NM,N,I,J
      DOUBLE PRECISION A(NM,N),C(*),R(*)
C@ begin n=1024 nm=1024
      DO 270 I = 1,N
         C(I) = 0.0D0
         R(I) = 0.0D0
         DO 200 J = 1,N
            IF (J.EQ.I) GO TO 200
            C(I) = C(I) + DABS(A(J,I))
            R(I) = R(I) + DABS(A(I,J))
  200    CONTINUE
  270 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE BALAN2(NM,N,A,SCALE)
C     SCALING OF ROWS AND COLUMNS
      INTEGER NM,N,I,J
      DOUBLE PRECISION A(NM,N),SCALE(*),F,G
C@ begin n=512 nm=512
      DO 270 I = 1,N
         F = SCALE(I)
         G = 1.0D0/F
         DO 250 J = 1,N
            A(I,J) = A(I,J)*G
  250    CONTINUE
         DO 260 J = 1,N
            A(J,I) = A(J,I)*F
  260    CONTINUE
  270 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE HQRROW(NM,N,K,EN,H,P,Q,R,X,Y,ZZ)
C     A DOUBLE QR STEP: THE ROWS
      INTEGER NM,N,K,EN,I,J
      DOUBLE PRECISION H(NM,N),P,Q,R,X,Y,ZZ
C@ begin n=1024 nm=1024 k=3 en=1024
      DO 200 J = K,N
         P = H(K,J) + Q*H(K+1,J) + R*H(K+2,J)
         H(K,J) = H(K,J) - P*X
         H(K+1,J) = H(K+1,J) - P*Y
         H(K+2,J) = H(K+2,J) - P*ZZ
  200 CONTINUE
      J = MIN0(EN,K+3)
      DO 210 I = 1,J
         P = X*H(I,K) + Y*H(I,K+1) + ZZ*H(I,K+2)
         H(I,K) = H(I,K) - P
         H(I,K+1) = H(I,K+1) - P*Q
         H(I,K+2) = H(I,K+2) - P*R
  210 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE HQRNRM(NM,N,H,NORM)
C     THE NORM OF A HESSENBERG MATRIX: K FOLLOWS THE ROW
      INTEGER NM,N,I,J,K
      DOUBLE PRECISION H(NM,N),NORM
C@ begin n=1024 nm=1024
      NORM = 0.0D0
      K = 1
      DO 50 I = 1,N
         DO 40 J = K,N
            NORM = NORM + DABS(H(I,J))
   40    CONTINUE
         K = I
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE HQRBAK(NM,N,H,Z)
C     VECTORS BY THE TRANSFORMATION MATRIX, FROM THE LAST ONE DOWN
      INTEGER NM,N,I,J,JJ,K,M
      DOUBLE PRECISION H(NM,N),Z(NM,N),ZZ
C@ begin n=256 nm=256
      DO 880 JJ = 1,N
         J = N + 1 - JJ
         M = MIN0(J,N)
         DO 870 I = 1,N
            ZZ = 0.0D0
            DO 860 K = 1,M
               ZZ = ZZ + Z(I,K)*H(K,J)
  860       CONTINUE
            Z(I,J) = ZZ
  870    CONTINUE
  880 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE TQL2V(NM,N,L,M,Z,C,S)
C     ROTATIONS OF THE VECTORS: THE LAST COLUMN FIRST
      INTEGER NM,N,L,M,I,II,K,MML
      DOUBLE PRECISION Z(NM,N),C(*),S(*),H
      MML = M - L
C@ begin n=512 nm=512 l=1 m=512
      DO 200 II = 1,MML
         I = M - II
         DO 180 K = 1,N
            H = Z(K,I+1)
            Z(K,I+1) = S(I)*Z(K,I) + C(I)*H
            Z(K,I) = C(I)*Z(K,I) - S(I)*H
  180    CONTINUE
  200 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ELMHSU(NM,N,M,A)
C     ELIMINATION TO HESSENBERG FORM, ONE COLUMN
      INTEGER NM,N,M,I,J
      DOUBLE PRECISION A(NM,N),X,Y
C@ begin n=512 nm=512 m=2
      X = A(M,M-1)
      DO 160 I = M + 1,N
         Y = A(I,M-1)
         IF (Y.EQ.0.0D0) GO TO 160
         Y = Y/X
         A(I,M-1) = Y
         DO 140 J = M,N
            A(I,J) = A(I,J) - Y*A(M,J)
  140    CONTINUE
  160 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE BAKVEC(NM,N,M,E,Z)
      INTEGER NM,N,M,I,J
      DOUBLE PRECISION E(*),Z(NM,*)
C@ begin n=1024 m=1024 nm=1024
      DO 120 J = 1,M
         DO 110 I = 2,N
            Z(I,J) = Z(I,J)*E(I)
  110    CONTINUE
  120 CONTINUE
C@ end
      RETURN
      END
